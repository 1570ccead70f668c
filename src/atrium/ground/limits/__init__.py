"""Limits: how often an address may knock, and backoff after failed sign-ins. Owns `rate_limits`, `login_failures`, `known_sign_ins`."""
