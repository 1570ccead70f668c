"""Jobs: queue, claim under a lease, finish once.

Owns tables `jobs`, `job_orgs`, `job_teams`, `job_lanes`, `job_wakes`, `job_workers`, `job_words`.

A *kind* says what to do, a *pool* which workers can do it, a *lane* is one team's jobs of one pool. An *attempt* is one
claim; its *token* is worth something only while its *lease* lasts. A *part* is a job that
belongs to something larger, which pays for it and shows it.
"""
