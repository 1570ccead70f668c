"""The wire of localization."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.ground.identity.model import Locale
from atrium.ground.tenancy.model import LocaleName
from atrium.kit.errors import Invalid
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.localization import drafts, exchange, service
from atrium.product.localization.exchange import ImportOf
from atrium.product.localization.model import (
    Catalog,
    Comment,
    Coverage,
    Decision,
    Discarded,
    DraftBatch,
    ExportedLocale,
    ExportedObject,
    FileFormat,
    LocalMessage,
    MessageText,
    Namespace,
    Namespaces,
    QueuedImport,
    Shown,
)
from atrium.seams.context import Operation
from atrium.seams.routes import Accepted, Created, IfMatch

WithHistory = Annotated[
    bool,
    msgspec.Meta(
        description="With the last 20 texts that each message had before; such a page has 10 messages at most."
    ),
]


async def read_catalog(op: Operation, *, locale: Locale | None = None, namespaces: Namespaces | None = None) -> Catalog:
    """The console's messages in a locale, gaps filled through the fallback chain; of some namespaces or of all."""
    return await service.read_catalog(op, locale, None if namespaces is None else namespaces.split(","))


async def read_coverage(op: Operation) -> Coverage:
    """How many messages of each locale and namespace are approved, drafted by a machine, missing or stale; how far an import is."""
    return await service.read_coverage(op)


async def list_messages(  # noqa: PLR0913 - each is a parameter of the query
    op: Operation,
    *,
    locale: LocaleName,
    status: Shown | None = None,
    ns: Namespace | None = None,
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None,
    history: WithHistory = False,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[LocalMessage]:
    """The messages of one locale by key; `q` searches keys, sources, texts and proposals; a page ends early at about 2 MB."""
    return await service.list_messages(op, locale, (status, ns, q), limit, cursor, history=history)


class ImportAsk(msgspec.Struct, forbid_unknown_fields=True):
    """The catalogs on disk, of some locales or of all; or an object of a repository and the locale that it is in."""

    __example__ = {"dry_run": True}

    locales: Annotated[list[LocaleName], msgspec.Meta(min_length=1, max_length=100)] | None = None
    dry_run: bool = False
    object_id: UUID | None = None
    locale: LocaleName | None = None


async def import_catalogs(op: Operation, body: ImportAsk) -> Accepted[QueuedImport]:
    """Take catalogs into the manager's tables as a job; its result is the report.

    Disk text counts as approved unless a person approved another one, which then stays while the file's becomes a proposal. Texts out of
    an object are always proposals.
    """
    if (body.object_id is None) != (body.locale is None) or (body.object_id and body.locales):
        raise Invalid("send object_id together with locale, or neither and optionally locales")
    return Accepted(await exchange.start_import(op, ImportOf(body.locales, body.dry_run, body.object_id, body.locale)))


class ExportAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A locale; with a format it becomes an object of the caller's team instead of files on the server's disk."""

    __example__ = {"locale": "es"}

    locale: LocaleName
    format: FileFormat | None = None


async def export_catalog(op: Operation, body: ExportAsk) -> ExportedLocale | Created[ExportedObject]:
    """Write a locale's approved texts back to its catalog files, or the whole locale to an object."""
    if body.format is None:
        return await exchange.export_locale(op, body.locale)
    return Created(await exchange.export_object(op, body.locale, body.format))


class DraftAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A locale, or one of its namespaces; with `continue` further jobs follow until nothing is missing."""

    __example__ = {"locale": "es"}

    locale: LocaleName
    ns: Namespace | None = None
    continue_: bool = msgspec.field(name="continue", default=False)


async def draft_missing(op: Operation, body: DraftAsk) -> Accepted[DraftBatch]:
    """Queue drafts by a model for what a locale lacks, at most 20 jobs of 25 messages, paid by the caller's team."""
    return Accepted(await drafts.start_drafts(op, body.locale, body.ns, follow=body.continue_))


class DiscardAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A locale, or one of its namespaces."""

    __example__ = {"locale": "es"}

    locale: LocaleName
    ns: Namespace | None = None


async def discard_drafts(op: Operation, body: DiscardAsk) -> Discarded:
    """Remove a locale's drafts by a machine; nothing that a person wrote or approved."""
    return await service.discard_drafts(op, body.locale, body.ns)


class TextDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A text for a message."""

    __example__ = {"text": "Guardar"}

    text: MessageText


async def submit_text(op: Operation, id: UUID, body: TextDraft, *, if_match: IfMatch | None = None) -> LocalMessage:
    """Submit a translation; it waits for a reviewer while the approved text stays live."""
    return await service.submit_text(op, id, body.text, if_match)


class ReviewAsk(msgspec.Struct, forbid_unknown_fields=True):
    """Approve what waits, or send it back to its translator with a comment."""

    __example__ = {"decision": "approve"}

    decision: Decision
    comment: Comment = ""


async def review_text(op: Operation, id: UUID, body: ReviewAsk, *, if_match: IfMatch | None = None) -> LocalMessage:
    """Approve a translation or send it back; no reviewer decides on their own."""
    return await service.review_text(op, id, body.decision, body.comment, if_match)
