"""AI: metered turns. Owns no table."""
