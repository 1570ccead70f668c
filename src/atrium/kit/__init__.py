"""What knows nothing about the product: PostgreSQL, errors, settings, cryptography, text."""
