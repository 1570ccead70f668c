"""Access: permission names, roles, and the one place that says yes or no. Owns no table."""
