"""Assembles the house, and refuses to open it when it disagrees with itself."""
