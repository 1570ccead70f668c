"""The nouns of AI."""

import msgspec


class Spent(msgspec.Struct, frozen=True):
    """What a turn cost."""

    requests: int
    tokens: int


class Echo(msgspec.Struct, frozen=True):
    """The words that came in, and what saying them back cost."""

    text: str
    usage: Spent
