"""The knowledge graph as tools."""

from typing import Any
from uuid import UUID

from atrium.engine.repository.model import ObjectMissing
from atrium.product.knowledge import extraction, service
from atrium.product.knowledge.model import ExtractionResult
from atrium.seams.context import Context, Operation
from atrium.seams.tools import LONGEST_CALL, Parameter, RecordedResult, Tool, require_id


async def _list_unextracted(ctx: Context, arguments: dict[str, Any]) -> list[UUID]:
    return await service.list_unextracted(ctx)


async def _extract(op: Operation, arguments: dict[str, Any]) -> RecordedResult[ExtractionResult]:
    missing = ObjectMissing("this is not the id of a file; files_list tells them")
    return await extraction.extract(op, require_id(arguments, "object", missing))


TOOLS = (
    Tool(
        name="kg_list_unextracted",
        description="List the ids of files of the team that were not read into the knowledge graph yet, oldest first, at most 40.",
        permission="files:read",
        effect="read",
        untrusted=False,
        act=_list_unextracted,
    ),
    Tool(
        name="kg_extract",
        description="Read the entities and relations in a file's text into the knowledge graph; tells how many there are.",
        permission="files:write",
        effect="write",
        seconds=LONGEST_CALL,
        perform=_extract,
        parameters=(Parameter(name="object", type="string", description="The file's id."),),
    ),
)
