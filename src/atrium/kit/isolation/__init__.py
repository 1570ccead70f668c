"""Other programs and processes: confined, reused, and ended with this one."""
