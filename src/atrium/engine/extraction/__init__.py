"""Extraction: the text of documents, read in the background by processes that can do nothing else. Owns no table."""
