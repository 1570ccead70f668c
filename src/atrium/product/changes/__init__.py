"""Changes: who is told what of what changed. Owns table `change_rows`, whose rows are written by triggers (migration 0085).

A *principal* is whom a row is addressed to: a person, a team, the company. A *place* is how far a reader has come.
"""
