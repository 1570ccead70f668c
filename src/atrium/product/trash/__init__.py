"""Trash: what was deleted of notes, documents and files, until it is restored or its time has come. Owns no table."""
