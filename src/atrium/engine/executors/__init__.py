"""Executors: the machines that run remote work and models.

Owns tables `executors`, `worker_credentials`, `executor_probes`, `model_roles`.

A *pull* executor claims jobs over HTTP with its worker token; a *push* executor is called at its URL; the *local* one is this
server. One that is *bound* serves a single company.
"""
