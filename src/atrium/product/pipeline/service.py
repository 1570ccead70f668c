"""The verbs of the document pipeline: each reads a document and writes another one beside it."""

from contextlib import aclosing
from typing import Any
from uuid import UUID

from atrium.engine.extraction import service as extraction
from atrium.engine.extraction.model import NoDocumentText
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts
from atrium.engine.repository.model import MARKDOWN, StoredObject, is_markdown
from atrium.ground.access import service as access
from atrium.kit.text.languages import canonical, is_tag
from atrium.product.pipeline import derived, template_process
from atrium.product.pipeline.fields import LONGEST_TEXT, as_document, ask_for_fields, fields_schema
from atrium.product.pipeline.model import BadLocale, DerivedDocument, ReadSource, TextTooLong
from atrium.product.translation import service as translation
from atrium.product.translation.model import TranslationDraft
from atrium.seams.context import Operation
from atrium.seams.tools import Artifact, ArtifactKind, RecordedResult

_JSON = "application/json"
LONGEST_TRANSLATED = 200_000
_BYTES_OF_A_CHARACTER = 4


async def extract_fields(op: Operation, id: UUID, schema: dict[str, Any], text: str) -> RecordedResult[Artifact]:
    """Have a model read fields out of an object's text, and write them beside the object as `<key>.fields.json`."""
    access.require(op, "chat:use")
    wanted = fields_schema(schema)
    text = _stored(text)
    if not text.strip():
        raise NoDocumentText("there is no text to read fields from")
    source = await _read_source(op, id, text)
    await derived.require_place(op, source, "fields.json")
    fields = await ask_for_fields(op, wanted, text)

    def described(written: StoredObject) -> Artifact:
        summary = f"{len(fields)} fields" if len(fields) != 1 else "1 field"
        return _artifact("table", written, summary, source, fields=fields, truncated=len(text) > LONGEST_TEXT)

    made = DerivedDocument(ending="fields.json", content_type=_JSON, body=as_document(fields))
    return await derived.write_derived(op, source, made, described)


async def render_form(op: Operation, id: UUID, template: str, data: dict[str, Any]) -> RecordedResult[Artifact]:
    """Fill in a Liquid template, and write the form beside the object as `<key>.form.md`."""
    source = await _read_source(op, id)
    await derived.require_place(op, source, "form.md")
    form = await template_process.render(op, template, data)

    def described(written: StoredObject) -> Artifact:
        return _artifact("document", written, f"form, {len(form)} characters", source)

    made = DerivedDocument(ending="form.md", content_type=MARKDOWN, body=form.encode())
    return await derived.write_derived(op, source, made, described)


async def translate_document(op: Operation, id: UUID, locale: str) -> RecordedResult[Artifact]:
    """Translate an object's text by the team's glossary, and write it beside the object as `<key>.<locale>.md`."""
    access.require(op, "chat:use")
    if not is_tag(locale):
        raise BadLocale(
            "locale: a BCP 47 tag such as `es` or `pt-BR`", errors=[{"path": "/locale", "message": locale[:40]}]
        )
    ending = f"{canonical(locale)}.md"
    source, text = await _read_whole(op, id)
    await derived.require_place(op, source, ending)
    draft = TranslationDraft(
        text=text, target=locale, format="markdown" if is_markdown(source.version.content_type) else "text"
    )
    made = await translation.translate_text(op, draft, all_or_none=True)
    report = made.report

    def described(written: StoredObject) -> Artifact:
        done = f"{report.blocks - len(report.kept)} of {report.blocks} blocks translated into {made.target}"
        terms = [{"term": one.term, "wanted": one.wanted} for one in report.glossary.missed]
        facts = {"locale": made.target, "blocks": report.blocks, "kept": len(report.kept), "missed_terms": terms}
        return _artifact("document", written, done, source, **facts)

    document = DerivedDocument(ending=ending, content_type=MARKDOWN, body=made.text.encode())
    return await derived.write_derived(op, source, document, described)


async def _read_source(op: Operation, id: UUID, text: str | None = None) -> ReadSource:
    """An object with its current version; with the version that a text was read from, where that is another one."""
    async with op.begin() as ctx:
        stored, version = await repository.read_version(ctx, id, None)
        read_from = None if text is None else await texts.find_version_with(ctx, id, text)
        if read_from is not None and read_from != version.id:
            stored, version = await repository.read_version(ctx, id, str(read_from))
        return ReadSource(stored, version)


async def _read_whole(op: Operation, id: UUID) -> tuple[ReadSource, str]:
    """An object with all of its text; of Markdown the text is what is in the file."""
    source = await _read_source(op, id)
    if is_markdown(source.version.content_type) and source.version.size <= LONGEST_TRANSLATED * _BYTES_OF_A_CHARACTER:
        async with aclosing(repository.open_content(op, id, source.version)) as pieces:
            body = b"".join([piece async for piece in pieces])
        text, truncated = body.decode("utf-8", "replace").replace("\0", ""), False
    else:
        found = await extraction.wait_for_text(op, id, LONGEST_TRANSLATED + 1)
        source = ReadSource(found.object, found.version)
        text, truncated = found.text.text, found.text.truncated
        if found.text.problem:
            raise NoDocumentText(found.text.problem)
    if truncated or len(text) > LONGEST_TRANSLATED:
        raise TextTooLong(
            f"{source.object.filename} has more text than the {LONGEST_TRANSLATED} characters that are translated at once",
            limit=LONGEST_TRANSLATED,
        )
    if not text.strip():
        raise NoDocumentText(f"no text was found in {source.object.filename}")
    return source, text


def _stored(text: str) -> str:
    """A text as PostgreSQL would have kept it."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _artifact(kind: ArtifactKind, written: StoredObject, summary: str, source: ReadSource, **extra: Any) -> Artifact:
    return Artifact(
        kind=kind,
        title=written.filename,
        summary=summary,
        content_type=written.content_type,
        object_id=written.id,
        version_id=written.version.id,
        extra={"key": written.key, "source_id": source.object.id, "source_version_id": source.version.id, **extra},
    )
