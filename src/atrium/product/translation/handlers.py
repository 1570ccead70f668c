"""The wire of translation and of the glossary."""

from typing import Annotated, ClassVar

import msgspec

from atrium.kit.errors import Invalid
from atrium.kit.text.languages import LanguageTag
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.translation import glossary, service
from atrium.product.translation.model import (
    CatalogDraft,
    Format,
    GlossaryTerm,
    SourceText,
    StoredTranslation,
    Term,
    TermDraft,
    TermNote,
    TranslatedCatalog,
    Translation,
    TranslationDraft,
)
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Put

Messages = Annotated[
    dict[Annotated[str, msgspec.Meta(max_length=300)], Annotated[str, msgspec.Meta(max_length=20_000)]],
    msgspec.Meta(max_length=5_000, description="ICU messages by their keys."),
]


class TranslationAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A text and the language it is wanted in; the source language may be left to the model."""

    __body_limit__: ClassVar[int] = 4 << 20
    __asks_a_model__: ClassVar[bool] = True
    __example__ = {"text": "Open the **board** at https://example.com.", "target": "es", "format": "markdown"}

    text: SourceText
    target: LanguageTag
    source: LanguageTag | None = None
    format: Format = "text"


async def translate(op: Operation, body: TranslationAsk) -> Translation:
    """Translate a text by the team's glossary.

    Placeholders, tags, addresses and code come back as they were: a block for which no whole reply came twice stays in the source
    language and is named in `report.kept`.
    """
    draft = TranslationDraft(text=body.text, target=body.target, source=body.source, format=body.format)
    return await service.translate(op, draft)


async def list_translations(
    ctx: Context, *, target: LanguageTag | None = None, limit: Limit = 20, cursor: Cursor | None = None
) -> Page[StoredTranslation]:
    """The caller's own translations, newest first; a page ends early at about 2 MB."""
    return await service.list_translations(ctx, target, limit, cursor)


class CatalogAsk(msgspec.Struct, forbid_unknown_fields=True):
    """Messages of a program, or with none of them the instance's own, of a namespace or of all."""

    __body_limit__: ClassVar[int] = 4 << 20
    __asks_a_model__: ClassVar[bool] = True
    __example__ = {"target": "es", "messages": {"home.greeting": "Hello {name}"}}

    target: LanguageTag
    source: LanguageTag | None = None
    messages: Messages | None = None
    namespace: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+$(?!\n)", max_length=100)] | None = None


async def translate_catalog(op: Operation, body: CatalogAsk) -> TranslatedCatalog:
    """Translate a catalog of ICU messages; nothing is written.

    Plural forms become those of the target language by CLDR. A message that cannot be translated whole is named in `problems`.
    """
    if body.messages is not None and body.namespace is not None:
        raise Invalid("send messages, or a namespace of the instance's own catalog, not both")
    draft = CatalogDraft(target=body.target, source=body.source, messages=body.messages, namespace=body.namespace)
    return await service.translate_catalog(op, draft)


class TermAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A term and what it is in a language; a null `translation` keeps the term as it is, `remove` takes it out."""

    __example__ = {"target": "es", "term": "board", "translation": "tablero"}

    target: LanguageTag
    term: Term
    translation: Term | None = None
    note: TermNote = ""
    case_sensitive: bool = False
    remove: bool = False


async def change_glossary(ctx: Context, body: TermAsk) -> Put[GlossaryTerm]:
    """Add, change or remove a term of the team's glossary for one language."""
    if body.remove:
        return Put(await glossary.remove_term(ctx, body.target, body.term), new=False)
    draft = TermDraft(
        target=body.target,
        term=body.term,
        translation=body.translation,
        note=body.note,
        case_sensitive=body.case_sensitive,
    )
    made, new = await glossary.put_term(ctx, draft)
    return Put(made, new)


async def list_terms(
    ctx: Context,
    *,
    target: LanguageTag | None = None,
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[GlossaryTerm]:
    """The team's glossary in the order of its terms; `q` searches terms and translations."""
    return await glossary.list_terms(ctx, target, q, limit, cursor)
