"""Tenancy: companies and their teams. Owns tables `orgs`, `teams`."""
