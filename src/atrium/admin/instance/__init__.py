"""Instance: first run, health, configuration, status, metrics. Owns tables `instance`, `key_check`."""
