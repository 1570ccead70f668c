"""Assembles the application, and refuses to start when its boot checks fail."""
