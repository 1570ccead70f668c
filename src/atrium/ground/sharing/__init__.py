"""Sharing: the one rule of who may read, write, delete and manage a thing. Owns no table: grants are in the tables of their kinds."""
