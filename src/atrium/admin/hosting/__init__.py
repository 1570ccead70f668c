"""Hosting: one tenant on one instance, provisioned, suspended and limited by its host. Owns table `activations`."""
