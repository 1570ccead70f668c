"""The nouns of the document pipeline."""

import hashlib

import msgspec

from atrium.engine.repository.model import StoredObject, Version
from atrium.engine.repository.object_keys import LONGEST_KEY
from atrium.kit.errors import AppError, Conflict, Invalid, Kind, TooLarge, Unavailable


class ReadSource(msgspec.Struct, frozen=True):
    """What a document is made from: an object, and the version of it that was read."""

    object: StoredObject
    version: Version


class DerivedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document about to be written: how its key ends after the source's, and its bytes."""

    ending: str
    content_type: str
    body: bytes


class FieldsRefused(AppError):
    """The model's reply is not what the schema asks for; another try may be. `errors` says where."""

    kind, code, title = Kind.UPSTREAM, "doc.fields_refused", "The fields do not fit the schema"


class BadSchema(Invalid):
    """The schema cannot be asked for."""

    code, title = "doc.bad_schema", "Not a schema for fields"


class BadTemplate(Invalid):
    """The template cannot be read, or asks for what is not there."""

    code, title = "doc.bad_template", "The template cannot be rendered"


class TemplateTooHeavy(Invalid):
    """Rendering the template takes more time, memory or output than a form may."""

    code, title = "doc.template_too_heavy", "The template takes too much"


class BadLocale(Invalid):
    """Not a language."""

    code, title = "doc.bad_locale", "Not a language tag"


class TextTooLong(TooLarge):
    """The document's text is longer than what is translated at once."""

    code, title = "doc.too_long", "The document is too long"


class NotReplaced(Conflict):
    """Something is at the key that this would not replace."""

    code, title = "doc.key_taken", "Another document is there"
    lasting = True


class RenderersBusy(Unavailable):
    """Every process that renders is in use."""

    code, title = "doc.busy", "All renderers are busy"


def derived_key(key: str, ending: str) -> str:
    """The key of what is made from the object at a key: that key and an ending.

    Where this would be longer than a key may be, the end of the source's key is replaced by a digest of all of it.
    """
    whole = f"{key}.{ending}"
    if len(whole.encode()) <= LONGEST_KEY:
        return whole
    end = f"~{hashlib.sha256(key.encode()).hexdigest()[:16]}.{ending}"
    return key.encode()[: LONGEST_KEY - len(end)].decode("utf-8", "ignore") + end
