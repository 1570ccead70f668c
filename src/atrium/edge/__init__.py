"""HTTP: match, admit, fill, call, confirm, reply."""
