"""The nouns of translation."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.engine.turns.model import ShownUsage
from atrium.kit.errors import Conflict, Invalid, Missing
from atrium.product.translation.units.placeholders import Fault

Format = Literal["text", "markdown", "html", "icu"]
SourceText = Annotated[str, msgspec.Meta(max_length=200_000)]
Term = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"\S")]
TermNote = Annotated[str, msgspec.Meta(max_length=500)]
# Why a block stayed in the source language: a fault of both replies, or what ended the work before it was asked for.
Reason = Fault | Literal["reply", "long", "quota", "model", "time"]
SENTENCES: dict[str, str] = {
    "no_text": "no text came back for it",
    "too_long": "the reply was much longer than the source",
    "marks": "placeholders were lost, doubled or changed",
    "tag_order": "tags changed their order",
    "stray": "the reply had control characters or stray marks",
    "empty": "the reply was empty",
    "structure": "the reply added or lost structure",
    "reply": "the reply was not in the form that was asked for",
    "long": "it is too long for one turn",
    "quota": "the quota ran out",
    "model": "the model stopped answering",
    "time": "there was no time left for it",
}


class KeptBlock(msgspec.Struct, frozen=True):
    """A block that stayed in the source language; `block` counts from 1, `excerpt` is how it begins."""

    block: int
    reason: Reason
    excerpt: str


class WantedTerm(msgspec.Struct, frozen=True):
    """A term of the glossary, and what the team wants it to be."""

    term: str
    wanted: str


class GlossaryUse(msgspec.Struct, frozen=True):
    """How many terms of the glossary came out as wanted, and which did not."""

    used: int
    missed: list[WantedTerm]


class TranslationReport(msgspec.Struct, frozen=True):
    """What became of a text: how many blocks it had, which of them stayed as they were, and how the glossary was followed."""

    blocks: int
    kept: list[KeptBlock]
    glossary: GlossaryUse


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """A text in another language; `source` is `und` when it was not given and the model did not tell."""

    id: UUID
    text: str
    source: str
    target: str
    format: Format
    report: TranslationReport
    usage: ShownUsage
    model: str | None
    simulated: bool
    created_at: datetime


class StoredTranslation(Translation, frozen=True, kw_only=True):
    """A translation of the caller's, with the text it was made from."""

    original: str


class TranslationDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What to translate."""

    text: str
    target: str
    source: str | None = None
    format: Format = "text"


class CatalogDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages to translate: these, or the instance's own of a namespace or of all."""

    target: str
    source: str | None = None
    messages: dict[str, str] | None = None
    namespace: str | None = None


class TranslatedCatalog(msgspec.Struct, frozen=True):
    """Messages in another language; a message with a problem is not among them."""

    target: str
    messages: dict[str, str]
    problems: dict[str, str]
    usage: ShownUsage
    simulated: bool


class MessageDrafts(msgspec.Struct, frozen=True):
    """Messages by key as a model translated them, and the others: `refused` are no messages, `reasons` say what was wrong with replies."""

    messages: dict[str, str]
    refused: dict[str, str]
    reasons: dict[str, Reason]
    usage: ShownUsage
    model: str
    simulated: bool


class GlossaryTerm(msgspec.Struct, frozen=True):
    """How a team wants a term translated into one language; a null `translation` keeps the term as it is."""

    id: UUID
    target: str
    term: str
    translation: str | None
    note: str
    case_sensitive: bool
    changed_by: UUID
    changed_at: datetime

    @property
    def wanted(self) -> str:
        """What should stand in a translation."""
        return self.term if self.translation is None else self.translation


class TermDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A term to add or to change."""

    target: str
    term: str
    translation: str | None = None
    note: str = ""
    case_sensitive: bool = False

    @property
    def wanted(self) -> str:
        """What should stand in a translation."""
        return self.term if self.translation is None else self.translation


class BadMessage(Invalid):
    """The text is not an ICU message."""

    code, title = "translation.bad_message", "Not an ICU message"


class NamespaceMissing(Missing):
    """The instance's catalog has no such namespace."""

    code, title = "translation.namespace_missing", "No such namespace"


class TermMissing(Missing):
    """The team's glossary has no such term for this language."""

    code, title = "glossary.missing", "No such term"


class TermContradicted(Conflict):
    """Another term differs from this one in case alone, case counts in neither, and they are translated differently."""

    code, title = "glossary.contradicted", "Another term says otherwise"


class GlossaryFull(Conflict):
    """The team has as many terms as it may."""

    code, title = "glossary.full", "The glossary is full"
