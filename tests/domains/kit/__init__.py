"""Traces, log lines, metrics, alerts: what those who run an instance see of it."""
