"""Instance: first run, health, configuration, status, metrics. Owns table `key_check`."""
