"""What a search hands out to a caller who is bound by others."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from atrium.engine.repository.model import KIND as OBJECT
from atrium.product.notes.model import KIND as NOTE
from atrium.product.search.model import Candidate
from atrium.seams.context import Context
from atrium.seams.sharing import fill, list_handed_out

T = TypeVar("T")


async def list_first(ctx: Context, ranked: Sequence[T], candidate_of: Callable[[T], Candidate], count: int) -> list[T]:
    """The first so many of what was found, the best first, that everybody by whom the caller is bound can read too."""
    if not ctx.is_bound:
        return list(ranked[:count])
    places = {candidate_of(one).id: place for place, one in enumerate(ranked)}

    async def read(last: T | None, most: int) -> Sequence[T]:
        begin = 0 if last is None else places[candidate_of(last).id] + 1
        return ranked[begin : begin + most]

    async def hand(found: Sequence[T]) -> list[T]:
        notes = [one for one in found if candidate_of(one).kind == "note"]
        others = [one for one in found if candidate_of(one).kind in ("object", "document")]
        readable = {
            candidate_of(one).id for one in await list_handed_out(ctx, NOTE, notes, lambda one: candidate_of(one).id)
        }
        readable |= {
            candidate_of(one).id for one in await list_handed_out(ctx, OBJECT, others, lambda one: candidate_of(one).id)
        }
        return [one for one in found if candidate_of(one).id in readable]

    return await fill(ctx, count, read, hand)
