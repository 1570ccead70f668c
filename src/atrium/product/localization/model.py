"""The nouns of localization."""

import hashlib
from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Forbidden, Invalid, Missing
from atrium.kit.text.catalogs import LONGEST_TEXT

Namespaces = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(,[a-z0-9]+)*$(?!\n)", max_length=1000)]
Namespace = Annotated[
    str, msgspec.Meta(pattern=r"^[a-z0-9]{1,100}$(?!\n)", description="The part of a key before its first dot.")
]
MessageText = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT, description="An ICU message.")]
Comment = Annotated[str, msgspec.Meta(max_length=2_000)]
Status = Literal["approved", "machine", "missing", "stale"]
Shown = Literal["approved", "machine", "missing", "stale", "pending"]
Decision = Literal["approve", "send_back"]
FileFormat = Literal["json", "po", "xliff", "arb"]


class Catalog(msgspec.Struct, frozen=True, dict=True):
    """The console's messages, complete: what the locale lacks comes from the locales behind it."""

    locale: str
    messages: dict[str, str]
    tag: Annotated[str, msgspec.Meta(description="Differs whenever the messages do; also the ETag.")] = ""

    @classmethod
    def of(cls, locale: str, messages: dict[str, str]) -> "Catalog":
        """A catalog tagged by what it says."""
        said = msgspec.json.encode(messages)
        return cls(locale, messages, hashlib.blake2b(said, digest_size=12).hexdigest())

    @cached_property
    def reply_bytes(self) -> bytes:
        """The reply, made once for everybody who asks for the whole."""
        return msgspec.json.encode(self)

    @cached_property
    def _by_namespace(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for key, text in self.messages.items():
            found.setdefault(key.partition(".")[0], {})[key] = text
        return found

    @cached_property
    def _encoded(self) -> dict[str, bytes]:
        """Each namespace as the inside of an object: what is asked for is joined, and no text is encoded again."""
        return {ns: msgspec.json.encode(texts)[1:-1] for ns, texts in self._by_namespace.items()}

    def only(self, namespaces: Collection[str]) -> "Catalog":
        """The messages of these namespaces; a namespace that does not exist has none."""
        names, kept = sorted(self._by_namespace.keys() & set(namespaces)), dict[str, str]()
        for ns in names:
            kept |= self._by_namespace[ns]
        part = Catalog(self.locale, kept, self.tag)
        before, after = msgspec.json.encode(Catalog(self.locale, {}, self.tag)).split(b"{}")
        part.__dict__["reply_bytes"] = b"%b{%b}%b" % (before, b",".join(map(self._encoded.__getitem__, names)), after)
        return part

    def prepared(self) -> "Catalog":
        """The same with what its readers need made beforehand."""
        _ = self.reply_bytes, self._encoded
        return self

    def etag(self) -> str:
        """Differs whenever the messages do."""
        return f'"{self.tag}"'


class TextCheck(msgspec.Struct, frozen=True):
    """Something about a proposed or drafted text: an error keeps it out, a warning travels with it."""

    code: str
    level: Literal["error", "warning"]
    message: str


class PendingText(msgspec.Struct, frozen=True):
    """A proposed text that waits for a reviewer."""

    text: str
    by: UUID | None
    at: datetime
    checks: list[TextCheck]


class MachineDraft(msgspec.Struct, frozen=True):
    """Which model made the text, when, and the warnings about it."""

    model: str
    at: datetime
    checks: list[TextCheck]


class FormerText(msgspec.Struct, frozen=True):
    """A text that a message had: what it was, whose, and who replaced it when."""

    text: str
    was: Literal["approved", "machine", "stale", "pending"]
    by: UUID | None
    at: datetime | None
    replaced_by: UUID | None
    replaced_at: datetime


class LocalMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message in one locale: its source, what is served, and what waits for a reviewer."""

    id: UUID
    locale: str
    ns: str
    key: str
    source: str
    about: str
    max_length: int | None
    screens: list[str]
    arguments: dict[str, str]
    text: str | None
    status: Status
    pending: PendingText | None
    comment: str
    machine: MachineDraft | None
    problem: Annotated[str | None, msgspec.Meta(description="Why the last attempt at a draft left it without one.")]
    drafting: Annotated[bool, msgspec.Meta(description="Whether a draft of it is queued.")]
    revision: int
    updated_at: datetime
    history: Annotated[
        list[FormerText] | None,
        msgspec.Meta(description="The texts it had before, the last one first, when asked for."),
    ] = None

    def etag(self) -> str:
        """The revision."""
        return f'"{self.revision}"'


class MessageRow(msgspec.Struct, frozen=True):
    """A message as its row has it."""

    id: UUID
    locale: str
    ns: str
    key: str
    source: str
    about: str
    max_length: int | None
    screens: list[str]
    text: str | None
    status: Status
    text_source: str | None
    fits: bool
    by_person: bool
    text_by: UUID | None
    text_at: datetime | None
    disk_text: str | None
    pending_text: str | None
    pending_by: UUID | None
    pending_at: datetime | None
    pending_checks: list[Any]
    comment: str
    model: str | None
    drafted_at: datetime | None
    draft_checks: list[Any]
    draft_job: UUID | None
    problem: str | None
    retired: bool
    revision: int
    updated_at: datetime


class NamespaceCoverage(msgspec.Struct, frozen=True):
    """How far the messages of one namespace are."""

    ns: str
    total: int
    approved: int
    machine: int
    missing: int
    stale: int
    pending: int


class LocaleCoverage(msgspec.Struct, frozen=True):
    """How far a locale is; `total` is the sum of approved, machine, missing and stale."""

    locale: str
    total: int
    approved: int
    machine: int
    missing: int
    stale: int
    pending: int
    namespaces: list[NamespaceCoverage]


class ImportProgress(msgspec.Struct, frozen=True):
    """How many of how many messages the import that runs has taken in; both are 0 until it has read the files."""

    job: UUID
    done: int
    total: int


class Coverage(msgspec.Struct, frozen=True):
    """Every locale of the instance, and the import that runs."""

    items: list[LocaleCoverage]
    importing: ImportProgress | None = None


class QueuedImport(msgspec.Struct, frozen=True):
    """The job whose result is the report."""

    job: UUID


class ExportedFile(msgspec.Struct, frozen=True):
    """A catalog file as it is now."""

    name: str
    strings: int
    sha256: str


class ExportedLocale(msgspec.Struct, frozen=True):
    """What was written for a locale; with a `format` one object, else the files of its folder."""

    locale: str
    strings: int
    files: list[ExportedFile]


class ExportedObject(msgspec.Struct, frozen=True):
    """The object that holds a locale in a file format."""

    object_id: UUID
    key: str
    version: int


class DraftBatch(msgspec.Struct, frozen=True):
    """Jobs that draft missing messages, at most 20 of them; `remaining` counts what is missing and was not queued."""

    batch: UUID
    jobs: list[UUID]
    strings: int
    remaining: int


class Discarded(msgspec.Struct, frozen=True):
    """How many drafts of a machine were removed."""

    locale: str
    discarded: int


class NotThisInstance(Forbidden):
    """The catalogs belong to the instance's first company."""

    code, title = "localization.not_yours", "The catalogs belong to another company"


class MessageMissing(Missing):
    """No such message."""

    code, title = "localization.message_missing", "No such message"


class LocaleMissing(Invalid):
    """The instance has no such locale."""

    code, title = "localization.locale_missing", "No such locale"


class SourceFixed(Conflict):
    """Texts of the source language change in its files alone."""

    code, title = "localization.source", "Sources change on disk"


class TextRefused(Invalid):
    """The text would not work in place of its source."""

    code, title = "localization.text_refused", "This text would not work"


class NothingToReview(Conflict):
    """No text waits for a reviewer here."""

    code, title = "localization.nothing_to_review", "Nothing to review"


class OwnWork(Forbidden):
    """A reviewer's own text is for another reviewer."""

    code, title = "localization.own_work", "Your own translation"


class ImportRunning(Conflict):
    """Another import has not ended yet."""

    code, title = "localization.import_running", "An import is running"


class NothingApproved(Conflict):
    """No text of this locale is approved."""

    code, title = "localization.nothing_approved", "Nothing is approved"


class NothingMissing(Conflict):
    """Every message has a text, or its draft is queued."""

    code, title = "localization.nothing_missing", "Nothing is missing"


class BadFile(Invalid):
    """The object is not a catalog in a format that is known."""

    code, title = "localization.bad_file", "Not a catalog"


class ExportFailed(Conflict):
    """The catalog's folder cannot be written to; the files are as they were."""

    code, title = "localization.export_failed", "The files could not be written"
