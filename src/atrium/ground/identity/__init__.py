"""Identity: people, their credentials and second factors. Owns tables `users`, `tokens`, `recovery_codes`."""
