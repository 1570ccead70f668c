"""Audit: who did what to which thing, chained per company. Owns tables `audit_events`, `audit_heads`."""
