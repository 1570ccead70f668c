"""Console: the built browser console as this server hands it out. Owns no table."""
