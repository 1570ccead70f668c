"""Quotas: limits and usage, the company above its teams.

Owns tables `quota_limits`, `quota_usage`, `quota_holds`, `quota_entries`, `storage_entries`.

A *dimension* is what is counted, a *window* is how long it counts, a *hold* is an amount promised and not yet used.
Admission reserves at team and company together; settling replaces what was reserved by what was used.
"""
