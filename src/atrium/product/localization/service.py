"""The verbs of localization."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.audit import service as audit
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import CompanyDraft
from atrium.kit.text import catalogs
from atrium.kit.text.catalogs import BASE
from atrium.kit.web.etags import require_current
from atrium.kit.web.pages import Page, Pager, count_fitting
from atrium.product.localization import checks, copies, draft_rows, import_rows, imports, store
from atrium.product.localization.model import (
    Catalog,
    Coverage,
    Decision,
    Discarded,
    LocaleCoverage,
    LocaleMissing,
    LocalMessage,
    MachineDraft,
    MessageMissing,
    MessageRow,
    NamespaceCoverage,
    NothingToReview,
    NotThisInstance,
    OwnWork,
    PendingText,
    Shown,
    SourceFixed,
    TextCheck,
    TextRefused,
)
from atrium.product.translation import service as translation
from atrium.seams.context import Operation

# Of a page with the texts that messages had before, so that it stays as small as others.
_MOST_WITH_HISTORY, _MOST_FORMER = 10, 20
_NO_PENDING: dict[str, Any] = {"pending_text": None, "pending_by": None, "pending_at": None, "pending_checks": []}


async def read_catalog(op: Operation, locale: str | None, namespaces: Collection[str] | None = None) -> Catalog:
    """The messages in the locale asked for; gaps are filled from its parents, the instance's default and English."""
    async with op.begin_system() as ctx:
        instance = await tenancy.read_instance(ctx)
        policy, org_id = instance.localization, instance.founding.org_id if instance.founding else None
        chain = catalogs.fallback_chain(locale or policy.default_locale, policy.default_locale)
        catalog = await copies.serve(op.services, ctx.db, org_id, chain, machine=policy.serve_machine)
    return catalog if namespaces is None else catalog.only(namespaces)


async def open_manager(op: Operation) -> CompanyDraft:
    """Refuse everybody outside the instance's first company, and see to it that the catalogs are taken in."""
    async with op.begin(reading=True) as ctx:
        founding = (await tenancy.read_instance(ctx)).founding
    if founding is None or founding.org_id != op.who.org_id:
        raise NotThisInstance("the catalogs belong to the instance's first company; ask one of its people")
    await imports.ensure_loaded(op, founding.org_id)
    return founding


async def require_target(op: Operation, org_id: UUID, locale: str) -> None:
    """Refuse a locale that there is not, and the source's own."""
    if locale == BASE:
        raise SourceFixed(f"{BASE} is the source: change its files and import them")
    async with op.begin(reading=True) as ctx:
        known = await store.list_locales(ctx.db, org_id)
    if locale not in known:
        raise LocaleMissing(f"there is no locale {locale}: name it in an import first", known=known)


async def read_coverage(op: Operation) -> Coverage:
    """How far every locale is, and each of its namespaces."""
    founding = await open_manager(op)
    async with op.begin(reading=True) as ctx:
        rows = await store.list_counts(ctx.db, founding.org_id)
        importing_now = await import_rows.find_progress(ctx.db, founding.org_id)
    by_locale: dict[str, list[NamespaceCoverage]] = {}
    for locale, ns, approved, machine, missing, stale, pending in rows:
        total = approved + machine + missing + stale
        one = NamespaceCoverage(ns, total, approved, machine, missing, stale, pending)
        by_locale.setdefault(locale, []).append(one)
    return Coverage([_summed(locale, namespaces) for locale, namespaces in by_locale.items()], importing_now)


def _summed(locale: str, namespaces: list[NamespaceCoverage]) -> LocaleCoverage:
    names = ("total", "approved", "machine", "missing", "stale", "pending")
    counts = {name: sum(getattr(one, name) for one in namespaces) for name in names}
    return LocaleCoverage(locale=locale, namespaces=namespaces, **counts)


async def list_messages(
    op: Operation,
    locale: str,
    chosen: tuple[Shown | None, str | None, str | None],
    limit: int,
    cursor: str | None,
    *,
    history: bool = False,
) -> Page[LocalMessage]:
    """Messages of a locale by key, a few at a time when they are long; with the texts they had before when asked for."""
    founding = await open_manager(op)
    limit = min(limit, _MOST_WITH_HISTORY) if history else limit
    pager = Pager(op.services.keys, "l10n", op.who.user_id, locale, chosen)
    async with op.begin(reading=True) as ctx:
        if locale not in await store.list_locales(ctx.db, founding.org_id):
            raise LocaleMissing(f"there is no locale {locale}: name it in an import first")
        found = await store.list_messages(ctx.db, founding.org_id, locale, chosen, pager.read(cursor, str), limit + 1)
        ids = [one.id for one in found[:limit]] if history else []
        former = await store.list_history(ctx.db, founding.org_id, ids, _MOST_FORMER) if history else {}
    fits = count_fitting([one.source + (one.text or "") + (one.pending_text or "") for one in found])
    page = pager.page(found, min(limit, fits), lambda one: one.key)
    items = [msgspec.structs.replace(message_view(one), history=former.get(one.id)) for one in page.items]
    return Page(items, page.next_cursor)


def message_view(row: MessageRow) -> LocalMessage:
    """A message as people see it."""
    pending = None
    if row.pending_text is not None and row.pending_at is not None:
        found = msgspec.convert(row.pending_checks, list[TextCheck])
        pending = PendingText(row.pending_text, row.pending_by, row.pending_at, found)
    machine = None
    if row.status == "machine" and row.model is not None and row.drafted_at is not None:
        machine = MachineDraft(row.model, row.drafted_at, msgspec.convert(row.draft_checks, list[TextCheck]))
    return LocalMessage(
        id=row.id,
        locale=row.locale,
        ns=row.ns,
        key=row.key,
        source=row.source,
        about=row.about,
        max_length=row.max_length,
        screens=row.screens,
        arguments=checks.arguments_of(row.source),
        text=row.text,
        status=row.status,
        pending=pending,
        comment=row.comment,
        machine=machine,
        problem=row.problem,
        drafting=row.draft_job is not None,
        revision=row.revision,
        updated_at=row.updated_at,
    )


async def submit_text(op: Operation, id: UUID, text: str, if_match: str | None) -> LocalMessage:
    """Propose a text; the one that is served stays until a reviewer approves."""
    founding = await open_manager(op)
    async with op.begin(reading=True) as ctx:
        row = await store.find_message(ctx.db, founding.org_id, id)
    warnings = await _glossary_warnings(op, founding, row, text) if row else []
    async with op.begin() as ctx:
        row = await store.find_message(ctx.db, founding.org_id, id, lock=True)
        if row is None:
            raise MessageMissing("there is no such message")
        if row.locale == BASE:
            raise SourceFixed(f"{BASE} is the source: change its files and import them")
        require_current(if_match, message_view(row).etag())
        found = _sound(row, text)
        pending = {
            "pending_text": text,
            "pending_by": op.who.user_id,
            "pending_at": datetime.now(UTC),
            "pending_checks": msgspec.to_builtins([*found, *warnings]),
        }
        await store.change_message(ctx.db, founding.org_id, id, pending | {"comment": "", "changed_by": op.who.user_id})
        await audit.record(ctx, "localization.submitted", id, locale=row.locale, key=row.key)
        changed = await store.find_message(ctx.db, founding.org_id, id)
    return message_view(changed or row)


def _sound(row: MessageRow, text: str) -> list[TextCheck]:
    """The warnings about a text; refused when it has errors."""
    found = checks.check(row.source, text, row.locale, row.max_length)
    if errors := [one for one in found if one.level == "error"]:
        said = [{"path": "text", "code": one.code, "message": one.message} for one in errors]
        raise TextRefused(f"text: {errors[0].message}", errors=said)
    return found


async def _glossary_warnings(op: Operation, founding: CompanyDraft, row: MessageRow, text: str) -> list[TextCheck]:
    glossary = await translation.read_glossary(op, row.locale, founding.team_id)
    return checks.check_terms(glossary, row.source, text)


async def review_text(op: Operation, id: UUID, decision: Decision, comment: str, if_match: str | None) -> LocalMessage:
    """Approve a proposed text, a draft or a stale text, or send a proposal back; no reviewer decides on their own work."""
    founding = await open_manager(op)
    async with op.begin() as ctx:
        row = await store.find_message(ctx.db, founding.org_id, id, lock=True)
        if row is None:
            raise MessageMissing("there is no such message")
        require_current(if_match, message_view(row).etag())
        changes = _reviewed(op, row, decision)
        noted = {"comment": comment, "changed_by": op.who.user_id}
        await store.change_message(ctx.db, founding.org_id, id, changes | noted)
        kind = "localization.approved" if decision == "approve" else "localization.sent_back"
        await audit.record(ctx, kind, id, locale=row.locale, key=row.key)
        changed = await store.find_message(ctx.db, founding.org_id, id)
    return message_view(changed or row)


def _reviewed(op: Operation, row: MessageRow, decision: Decision) -> dict[str, Any]:
    pending = row.pending_text is not None
    standing = decision == "approve" and row.status in ("machine", "stale")
    if not pending and not standing:
        raise NothingToReview("no text waits for a reviewer here; it may have been decided on already")
    author = row.pending_by if pending else None if row.status == "machine" else row.text_by
    if author == op.who.user_id:
        raise OwnWork("this is your own translation; another reviewer has to decide on it")
    if decision == "send_back":
        return dict(_NO_PENDING)
    text = row.pending_text if row.pending_text is not None else row.text or ""
    _sound(row, text)
    return _NO_PENDING | {
        "text": text,
        "status": "approved",
        "text_source": row.source,
        "fits": True,
        "by_person": True,
        "text_by": author,
        "text_at": datetime.now(UTC),
        "model": None,
        "drafted_at": None,
        "draft_job": None,
        "problem": None,
    }


async def discard_drafts(op: Operation, locale: str, ns: str | None) -> Discarded:
    """Take out a locale's drafts by a machine; what a person wrote or approved stays."""
    founding = await open_manager(op)
    await require_target(op, founding.org_id, locale)
    async with op.begin() as ctx:
        count = await draft_rows.discard_drafts(ctx.db, founding.org_id, locale, ns, op.who.user_id)
        await audit.record(ctx, "localization.discarded", locale, ns=ns, discarded=count)
    return Discarded(locale, count)
