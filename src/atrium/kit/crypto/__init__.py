"""Keys, passwords, tokens, one-time codes and checksums."""
