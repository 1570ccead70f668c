"""The nouns of localization."""

import msgspec


class Catalog(msgspec.Struct, frozen=True):
    """The console's messages, complete: what the locale lacks comes from the locales behind it."""

    locale: str
    messages: dict[str, str]
