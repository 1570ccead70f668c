"""Domains of the engine layer; ARCHITECTURE.md has the order of the layers."""
