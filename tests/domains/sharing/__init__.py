"""Sharing: one rule, in each of its forms."""
