"""Identifiers: UUIDv7, so that ids sort by the time they were made."""

from uuid import UUID

from uuid_utils.compat import uuid7

NIL = UUID(int=0)


def new_id() -> UUID:
    """A fresh id, later in order than the ones before it."""
    return uuid7()
