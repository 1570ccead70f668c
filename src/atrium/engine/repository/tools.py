"""The repository as a tool: what a model may list on behalf of the caller."""

from typing import Any

from atrium.engine.repository import service
from atrium.engine.repository.model import Filter
from atrium.kit.errors import Invalid
from atrium.seams.context import Context
from atrium.seams.tools import Parameter, Tool

_LISTED, _LONGEST_PREFIX = 100, 1024


async def _list(ctx: Context, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    prefix = arguments.get("prefix") or ""
    if len(prefix) > _LONGEST_PREFIX:
        raise Invalid(f"a prefix has at most {_LONGEST_PREFIX} characters")
    found = await service.list_objects(ctx, Filter(prefix=prefix), _LISTED, None)
    return [
        {"id": one.id, "key": one.key, "type": one.content_type, "size": one.size, "updated_at": one.updated_at}
        for one in found.items
    ]


TOOLS = (
    Tool(
        name="files_list",
        description="List the files that the caller can read, by key, at most 100; `prefix` is how their keys begin, such as a folder.",
        permission="files:read",
        effect="read",
        act=_list,
        parameters=(
            Parameter(name="prefix", type="string", description="How the keys begin, such as reports/.", optional=True),
        ),
    ),
)
