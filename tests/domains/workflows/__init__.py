"""Workflows: format, definitions, runs."""
