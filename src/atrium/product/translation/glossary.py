"""The verbs of a team's glossary."""

import unicodedata
from uuid import UUID

import msgspec

from atrium.ground.audit import service as audit
from atrium.kit.ids import new_id
from atrium.kit.text.languages import canonical
from atrium.kit.web.pages import Page, Pager
from atrium.product.translation import store
from atrium.product.translation.model import GlossaryFull, GlossaryTerm, TermContradicted, TermDraft, TermMissing
from atrium.product.translation.terms import fold_case
from atrium.seams.context import Context

MOST_TERMS = 5_000


async def put_term(ctx: Context, draft: TermDraft) -> tuple[GlossaryTerm, bool]:
    """Add a term or change what it is translated to; whether it is new. Refused where another one contradicts it."""
    draft = _tidy(draft)
    await store.lock_glossary(ctx.db, ctx.who.team_id)
    known = await store.find_term(ctx.db, ctx.who, draft.target, draft.term)
    if known is None and await store.count_terms(ctx.db, ctx.who) >= MOST_TERMS:
        raise GlossaryFull(f"a team has at most {MOST_TERMS} terms; remove some first", limit=MOST_TERMS)
    await _require_agreement(ctx, draft, known)
    made = await store.put_term(ctx.db, ctx.who, new_id(), draft)
    if made is None:
        raise TermMissing("the term was not stored")
    await audit.record(ctx, "glossary.changed" if known else "glossary.added", made.id, target=made.target)
    return made, known is None


async def remove_term(ctx: Context, target: str, term: str) -> GlossaryTerm:
    """Take a term out of the glossary; what it was."""
    found = await store.find_term(ctx.db, ctx.who, canonical(target), _plain(term))
    if found is None:
        raise TermMissing("the glossary has no such term for this language")
    await store.delete_term(ctx.db, ctx.who, found.id)
    await audit.record(ctx, "glossary.removed", found.id, target=found.target)
    return found


async def list_terms(
    ctx: Context, target: str | None, search: str | None, limit: int, cursor: str | None
) -> Page[GlossaryTerm]:
    """The team's terms in the order of their letters, of one language or of all."""
    target = target and canonical(target)
    pager = Pager(ctx.services.keys, "glossary", ctx.who.team_id, target, search)
    found = await store.list_terms(ctx.db, ctx.who, target, search, pager.read(cursor, tuple[str, UUID]), limit + 1)
    return pager.page(found, limit, lambda one: (one.term, one.id))


async def _require_agreement(ctx: Context, draft: TermDraft, known: GlossaryTerm | None) -> None:
    """Refuse a term that wants something else than one that differs in case alone, while case counts in neither.

    Where two such terms are there already, what does not touch their contradiction can still be changed.
    """
    if draft.case_sensitive:
        return
    if known is not None and (known.translation, known.case_sensitive) == (draft.translation, False):
        return
    plain, wanted = fold_case(draft.term), fold_case(draft.wanted)
    for other in await store.list_caseless(ctx.db, ctx.who, draft.target, len(plain)):
        if other.term != draft.term and fold_case(other.term) == plain and fold_case(other.wanted) != wanted:
            raise TermContradicted(
                f"the glossary translates “{other.term}” as “{other.wanted}”, whatever its case; "
                "change that term, or let case count in one of them",
                term=other.term,
                translation=other.translation,
            )


def _tidy(draft: TermDraft) -> TermDraft:
    translation = None if draft.translation is None else _plain(draft.translation)
    return msgspec.structs.replace(
        draft, target=canonical(draft.target), term=_plain(draft.term), translation=translation
    )


def _plain(text: str) -> str:
    """One spelling for what looks the same: composed characters, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())
