"""Atrium: a multi-tenant team workspace server."""

__version__ = "0.1.0"
