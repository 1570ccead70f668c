"""Guests: what they may do, and everything they may not."""
