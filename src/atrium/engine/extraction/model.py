"""The nouns of extraction."""

import msgspec

from atrium.engine.repository.model import StoredObject, Text, Version
from atrium.kit.errors import Conflict


class CurrentText(msgspec.Struct, frozen=True):
    """An object, the version of it that was current, and what could be read out of that."""

    object: StoredObject
    version: Version
    text: Text


class NoDocumentText(Conflict):
    """The document has no text that could be read."""

    code, title = "doc.no_text", "This document has no text"
    lasting = True
