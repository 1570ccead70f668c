"""Tenancy: the instance, its companies and their teams. Owns tables `instance`, `orgs`, `teams`."""
