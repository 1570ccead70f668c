"""The document pipeline as tools."""

from typing import Any
from uuid import UUID

from atrium.engine.repository.model import ObjectMissing
from atrium.product.pipeline import service
from atrium.product.pipeline.fields import LONGEST_TURN
from atrium.product.translation.model_batches import LONGEST_WORK
from atrium.seams.context import Operation
from atrium.seams.tools import Artifact, Parameter, RecordedResult, Tool, require_id

# Reading and writing around a model's work.
_MORE_SECONDS = 60
_RENDER_SECONDS = 90
_OBJECT = Parameter(name="object", type="string", description="The id of the file that the document is made from.")
# What a document came from is told by the run that calls the tool; these are for workflows that say so, and change nothing.
_RUN = Parameter(name="run", type="string", description="The run that asks; leave it out.", optional=True)
_STEP = Parameter(name="step", type="string", description="The step that asks; leave it out.", optional=True)


async def _extract_fields(op: Operation, arguments: dict[str, Any]) -> RecordedResult[Artifact]:
    return await service.extract_fields(op, _source_in(arguments), arguments["schema"], arguments["text"])


async def _render(op: Operation, arguments: dict[str, Any]) -> RecordedResult[Artifact]:
    return await service.render_form(op, _source_in(arguments), arguments["template"], arguments["data"])


async def _translate(op: Operation, arguments: dict[str, Any]) -> RecordedResult[Artifact]:
    return await service.translate_document(op, _source_in(arguments), arguments["locale"])


def _source_in(arguments: dict[str, Any]) -> UUID:
    return require_id(arguments, "object", ObjectMissing("this is not the id of a file; files_list tells them"))


TOOLS = (
    Tool(
        name="doc_extract_fields",
        description="Read fields out of a file's text as a JSON schema says, and keep them as a file beside it.",
        permission="files:write",
        effect="write",
        seconds=LONGEST_TURN + _MORE_SECONDS,
        perform=_extract_fields,
        parameters=(
            _OBJECT,
            _RUN,
            Parameter(name="schema", type="object", description="The JSON schema of the fields, of the type object."),
            _STEP,
            Parameter(name="text", type="string", description="The file's text, as doc_text returns it."),
        ),
    ),
    Tool(
        name="doc_render",
        description="Fill in a Liquid template with data, and keep the result as a Markdown document beside a file.",
        permission="files:write",
        effect="write",
        seconds=_RENDER_SECONDS,
        perform=_render,
        parameters=(
            Parameter(name="data", type="object", description="What the template can name."),
            _OBJECT,
            _RUN,
            _STEP,
            Parameter(name="template", type="string", description="The template, in Liquid; it makes Markdown."),
        ),
    ),
    Tool(
        name="doc_translate",
        description="Translate a file's text by the team's glossary, and keep it as a Markdown document beside the file.",
        permission="files:write",
        effect="write",
        seconds=LONGEST_WORK + 2 * _MORE_SECONDS,
        perform=_translate,
        parameters=(
            Parameter(name="locale", type="string", description="The language, as a BCP 47 tag such as `es`."),
            _OBJECT,
            _RUN,
            _STEP,
        ),
    ),
)
