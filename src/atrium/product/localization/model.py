"""The nouns of localization."""

from collections.abc import Collection
from typing import Annotated

import msgspec

Namespaces = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(,[a-z0-9]+)*$(?!\n)", max_length=1000)]


class Catalog(msgspec.Struct, frozen=True):
    """The console's messages, complete: what the locale lacks comes from the locales behind it."""

    locale: str
    messages: dict[str, str]

    def only(self, namespaces: Collection[str]) -> "Catalog":
        """The messages of these namespaces; a namespace that does not exist has none."""
        kept = {key: text for key, text in self.messages.items() if key.partition(".")[0] in namespaces}
        return Catalog(self.locale, kept)
