"""Guests: programs in the sandbox that bring tools and act for the person who calls them. Owns no table."""
