"""Documents: titled Markdown kept as repository objects, a version per update. Owns no table."""
