"""Plugins: folders with a manifest, loaded whole or not at all. Owns no table."""
