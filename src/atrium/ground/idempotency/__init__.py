"""Idempotency: a repeated POST with the same key gets the first reply again. Owns table `idempotency_keys`."""
