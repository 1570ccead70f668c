"""What the program tells its operator: logs, metrics, traces."""
