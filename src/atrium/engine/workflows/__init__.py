"""Workflows: published specs, and their runs, each step of which is one job.

Owns tables `workflows`, `workflow_versions`, `runs`, `run_steps`, `run_objects`, `workflow_reviews`.
"""
