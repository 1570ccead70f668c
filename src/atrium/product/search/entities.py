"""Entities of the knowledge graph among what is found: by their names, as far as the caller can read documents that use them."""

from collections.abc import Iterable

import msgspec

from atrium.kit.ids import NIL
from atrium.product.knowledge import service as knowledge
from atrium.product.knowledge.model import FoundEntity
from atrium.product.search.model import Candidate, Search
from atrium.product.search.queries import Phrase, Query
from atrium.product.search.words import compose, spans, words_of
from atrium.seams.context import Context

_MOST = 50
# What a name counts for that is all that was asked for; one with other words counts for the share of its words.
_NAMED = 8.0


class Named(msgspec.Struct, frozen=True):
    """An entity that was found: by which of its names, how well that fits, and whether it is just what was asked for."""

    entity: FoundEntity
    name: str
    score: float
    exact: bool

    @property
    def candidate(self) -> Candidate:
        """The entity among rows of the index."""
        entity = self.entity
        return Candidate(
            entity.id, "entity", NIL, entity.read_at, len(words_of(self.name)), 0, 0, 0, 0, True, [], {}, ""
        )


async def list_fitting(ctx: Context, asked: Search, query: Query) -> list[Named]:
    """Entities with a name that has all of what was asked for."""
    words = _written(asked.q, [group[0] for group in query.groups if len(group) == 1])
    if not words:
        return []
    found = await knowledge.list_named(ctx, words, _MOST, org_wide=asked.scope == "org")
    return [named for one in found if (named := _named(one, query)) is not None]


def _written(q: str, phrases: Iterable[Phrase]) -> list[str]:
    """The words of these phrases as they were written: names are kept with their accents."""
    text, wanted = compose(q), {word for phrase in phrases for word in phrase}
    return [text[begin:end] for word, begin, end in spans(text) if word in wanted]


def _named(entity: FoundEntity, query: Query) -> Named | None:
    """The name that fits best; None when none does, or one has what was not to be there."""
    if any(_has(words_of(name), phrase) for name in entity.names for phrase in query.without):
        return None
    fitting = [name for name in entity.names if _fits(words_of(name), query)]
    if not fitting:
        return None
    name = min(fitting, key=lambda one: len(words_of(one)))
    words = words_of(name)
    return Named(entity, name, round(_NAMED * min(1.0, len(query.asked) / len(words)), 2), words == list(query.asked))


def _fits(words: list[str], query: Query) -> bool:
    return all(any(_has(words, phrase, begun=query.is_begun(phrase)) for phrase in group) for group in query.groups)


def _has(words: list[str], phrase: Phrase, *, begun: bool = False) -> bool:
    *before, last = phrase
    size = len(phrase)
    for at in range(len(words) - size + 1):
        found = words[at : at + size]
        if found[:-1] == before and (found[-1] == last or (begun and found[-1].startswith(last))):
            return True
    return False
