"""Entity tags: made of a thing's facts, and compared with what a request says it has read."""

import hashlib

import msgspec

from atrium.kit.errors import Stale


def etag_of(*facts: object) -> str:
    """A strong tag that differs whenever one of the facts does."""
    return f'"{hashlib.blake2b(msgspec.json.encode(facts), digest_size=12).hexdigest()}"'


def names_tag(header: str, *known: str) -> bool:
    """Whether an If-Match header names one of the tags; a weak tag names nothing (RFC 9110, 13.1.1).

    What stands behind a dot in a tag is about its reader and not about the thing: it is not compared.
    """
    states = {state_of(tag) for tag in known}
    return header.strip() == "*" or any(state_of(tag.strip()) in states for tag in header.split(","))


def state_of(tag: str) -> str:
    """A tag without what it says about its reader."""
    return tag.partition(".")[0] + '"' if tag.startswith('"') and "." in tag else tag


def require_current(if_match: str | None, etag: str) -> None:
    """Refuse an edit of something that has changed since it was read."""
    if if_match is not None and not names_tag(if_match, etag):
        raise Stale("this changed after you read it; read it again, then send the change", current=etag)
