"""Search as a tool: models find what the caller can read, and cite it by its id."""

from typing import Any

from atrium.product.search import service
from atrium.seams.context import Context
from atrium.seams.tools import Parameter, Tool


async def _search(ctx: Context, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    return await service.find_some(ctx, arguments["q"], arguments.get("kind") or None)


TOOLS = (
    Tool(
        name="search",
        description="Find notes, files and documents that the caller can read by words in their titles, keys and texts, and entities by "
        "their names; the best ten, "
        "each with its id and the piece of text that matched.",
        permission="search",
        effect="read",
        long=True,
        act=_search,
        parameters=(
            Parameter(name="q", type="string", description='Words to look for; a "phrase", -word to exclude, or.'),
            Parameter(
                name="kind",
                type="string",
                description="Only things of this kind.",
                optional=True,
                choices=("note", "object", "document", "entity"),
            ),
        ),
    ),
)
