"""Domains of the product layer; ARCHITECTURE.md has the order of the layers."""
