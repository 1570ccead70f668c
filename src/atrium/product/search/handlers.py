"""The wire of search."""

from typing import Annotated, Literal

import msgspec

from atrium.kit.web.pages import Cursor
from atrium.product.search import service
from atrium.product.search.model import Asked, Kind, PageSize, Prefix, Search, SearchResults
from atrium.seams.context import Context

Words = Annotated[
    Asked, msgspec.Meta(description='Words, a "phrase", -word to exclude, or; the last word may be a beginning.')
]
KeyPrefix = Annotated[Prefix, msgspec.Meta(description="Only objects and documents whose key begins so.")]


async def search(
    ctx: Context,
    *,
    q: Words,
    kind: Kind | None = None,
    prefix: KeyPrefix = "",
    scope: Literal["team", "org"] = "team",
    limit: PageSize = 20,
    cursor: Cursor | None = None,
) -> SearchResults:
    """Find notes, files, documents and entities that the caller can read, best first."""
    return await service.search(ctx, Search(q, kind, prefix, scope), limit, cursor)
