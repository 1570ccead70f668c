"""Domains of the administration layer; ARCHITECTURE.md has the order of the layers."""
