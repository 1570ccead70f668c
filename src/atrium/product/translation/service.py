"""The verbs of translation: cut, ask, judge, put together, keep."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from atrium.engine.turns import utility
from atrium.ground.access import service as access
from atrium.ground.features import service as features
from atrium.kit.files.paths import shipped_path
from atrium.kit.ids import new_id
from atrium.kit.text import catalogs
from atrium.kit.text.icu import MessageRefused
from atrium.kit.text.languages import canonical, fallback_chain
from atrium.kit.web.pages import Page, Pager, count_fitting
from atrium.kit.work.compute import heavy
from atrium.product.translation import store
from atrium.product.translation.model import (
    SENTENCES,
    BadMessage,
    CatalogDraft,
    Format,
    GlossaryTerm,
    GlossaryUse,
    KeptBlock,
    MessageDrafts,
    NamespaceMissing,
    Reason,
    StoredTranslation,
    TranslatedCatalog,
    Translation,
    TranslationDraft,
    TranslationReport,
    WantedTerm,
)
from atrium.product.translation.model_batches import Languages, Outcome, translate_units
from atrium.product.translation.terms import Glossary, is_followed
from atrium.product.translation.units.html import html_units
from atrium.product.translation.units.markdown import markdown_units
from atrium.product.translation.units.messages import icu_units
from atrium.product.translation.units.placeholders import Template, Unit, text_units
from atrium.seams.context import Context, Operation

FEATURE = "translate"
_EXCERPT = 80


async def translate(op: Operation, draft: TranslationDraft) -> Translation:
    """Translate a text block by block and keep it for the caller; what no reply was good enough for stays in the source language."""
    made = await translate_text(op, draft)
    async with op.begin() as ctx:
        await store.insert_translation(ctx.db, ctx.who, made, draft.text)
    return made


async def translate_text(op: Operation, draft: TranslationDraft, *, all_or_none: bool = False) -> Translation:
    """The same without keeping it; with `all_or_none` a quota or a model that fails on the way is raised."""
    features.require_feature(op, FEATURE)
    access.require(op, "chat:use")
    languages = _languages(draft.target, draft.source)
    compute, size = op.services.compute, len(draft.text)
    template = await compute.run(op.who.org_id, size, template_of, draft.format, draft.text, languages.target)
    glossary, model = await read_glossary(op, languages.target, op.who.team_id), await utility.open_utility(op)
    outcome = await translate_units(op, model, template.units, languages, glossary, all_or_none=all_or_none)
    text, report = await compute.run(op.who.org_id, size, _finished, template, outcome, glossary)
    return Translation(
        id=new_id(),
        text=text,
        source=outcome.source,
        target=languages.target,
        format=draft.format,
        report=report,
        usage=outcome.usage,
        model=model.opened.model,
        simulated=model.simulated,
        created_at=datetime.now(UTC),
    )


async def list_translations(
    ctx: Context, target: str | None, limit: int, cursor: str | None
) -> Page[StoredTranslation]:
    """The caller's own translations, newest first, a few at a time when they are long."""
    target = target and canonical(target)
    pager = Pager(ctx.services.keys, "translations", ctx.who.user_id, target)
    after = pager.read(cursor, tuple[datetime, UUID])
    found, fits = await store.list_translations(ctx.db, ctx.who, target, after, limit + 1)
    fits = min(limit, fits, count_fitting([one.text + one.original for one in found]))
    return pager.page(found, fits, lambda one: (one.created_at, one.id))


async def translate_catalog(op: Operation, draft: CatalogDraft) -> TranslatedCatalog:
    """Translate messages of a program; one that cannot be translated whole is a problem, and nothing is kept."""
    features.require_feature(op, FEATURE)
    access.require(op, "chat:use")
    languages = _languages(draft.target, draft.source or (catalogs.BASE if draft.messages is None else None))
    messages = draft.messages
    if messages is None:
        messages = await op.services.threads.run(op.who.org_id, _own_messages, draft.namespace)
    drafts = await draft_messages(op, messages, languages, await read_glossary(op, languages.target, op.who.team_id))
    problems = drafts.refused | {key: SENTENCES[reason] for key, reason in drafts.reasons.items()}
    return TranslatedCatalog(languages.target, drafts.messages, problems, drafts.usage, drafts.simulated)


async def draft_messages(
    op: Operation, messages: Mapping[str, str], languages: Languages, glossary: Glossary
) -> MessageDrafts:
    """Messages of a program as a model translates them, each whole or not at all; paid by the caller's team."""
    compute, size = op.services.compute, sum(map(len, messages.values()))
    templates, refused = await compute.run(op.who.org_id, size, _templates, messages, languages.target)
    units = [unit for template in templates.values() for unit in template.units]
    model = await utility.open_utility(op)
    outcome = await translate_units(op, model, units, languages, glossary)
    made, reasons = await compute.run(op.who.org_id, size, _assembled, templates, outcome)
    name = "simulated" if model.simulated else model.opened.model or model.executor
    return MessageDrafts(made, refused, reasons, outcome.usage, name, model.simulated)


async def forget_person(ctx: Context, person_id: UUID) -> None:
    """Delete what was translated for a person of the caller's company."""
    await store.delete_translations_of(ctx.db, ctx.who.org_id, person_id)


@heavy
def template_of(format: Format, text: str, target: str) -> Template:
    """The text cut into what is sent to a model and what is not."""
    match format:
        case "text":
            return text_units(text)
        case "markdown":
            return markdown_units(text)
        case "html":
            return html_units(text)
        case "icu":
            try:
                return icu_units(text, target)
            except MessageRefused as error:
                raise BadMessage(f"text: {error}", errors=[{"path": "text", "message": str(error)}]) from error


def _languages(target: str, source: str | None) -> Languages:
    return Languages(canonical(target), canonical(source) if source else None)


async def read_glossary(op: Operation, target: str, team_id: UUID) -> Glossary:
    """What a team of the caller's company wants its terms to be in a language."""
    targets = fallback_chain(target)
    async with op.begin(reading=True) as ctx:
        terms = await store.list_terms_for(ctx.db, ctx.who.org_id, team_id, targets)
    return await op.services.threads.run(op.who.org_id, Glossary, terms, targets)


@heavy
def _finished(template: Template, outcome: Outcome, glossary: Glossary) -> tuple[str, TranslationReport]:
    units = template.units
    text = template.filled([outcome.texts.get(number) for number in range(len(units))])
    kept = [
        KeptBlock(number + 1, reason, units[number].source[:_EXCERPT])
        for number, reason in sorted(outcome.reasons.items())
    ]
    return text, TranslationReport(len(units), kept, _followed(units, outcome, glossary))


def _followed(units: Sequence[Unit], outcome: Outcome, glossary: Glossary) -> GlossaryUse:
    """Which terms of the translated blocks came out as wanted; one that is missing in any of its blocks was missed."""
    used, missed = dict[str, GlossaryTerm](), dict[str, GlossaryTerm]()
    for number, text in outcome.texts.items():
        for one in glossary.occurring(units[number].sent):
            (used if is_followed(one, text) else missed)[one.term] = one
    return GlossaryUse(len(used.keys() - missed.keys()), [WantedTerm(one.term, one.wanted) for one in missed.values()])


def _own_messages(namespace: str | None) -> dict[str, str]:
    found = catalogs.read_locale(shipped_path("locales"), catalogs.BASE)
    if namespace is None:
        return found
    chosen = {key: text for key, text in found.items() if key.partition(".")[0] == namespace}
    if not chosen:
        raise NamespaceMissing(f"the catalog has no namespace {namespace}")
    return chosen


@heavy
def _templates(messages: Mapping[str, str], target: str) -> tuple[dict[str, Template], dict[str, str]]:
    templates, problems = dict[str, Template](), dict[str, str]()
    for key, text in messages.items():
        try:
            templates[key] = icu_units(text, target)
        except MessageRefused as error:
            problems[key] = str(error)
    return templates, problems


@heavy
def _assembled(templates: Mapping[str, Template], outcome: Outcome) -> tuple[dict[str, str], dict[str, Reason]]:
    made, reasons, at = dict[str, str](), dict[str, Reason](), 0
    for key, template in templates.items():
        numbers = range(at, at + len(template.units))
        at = numbers.stop
        reason = next((outcome.reasons[number] for number in numbers if number in outcome.reasons), None)
        if reason is None:
            made[key] = template.filled([outcome.texts[number] for number in numbers])
        else:
            reasons[key] = reason
    return made, reasons
