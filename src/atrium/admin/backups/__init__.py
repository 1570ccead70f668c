"""Backups: rows and bytes of one instant in a folder, checked, and put back. Owns no table."""
