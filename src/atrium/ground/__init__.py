"""Domains of the ground layer; ARCHITECTURE.md has the order of the layers."""
