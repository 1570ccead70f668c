"""What a reader must see, computed from texts alone: the graph of the documents they can read, as if there were no others."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atrium.product.knowledge.names import normalise_name, one_line
from tests.domains.knowledge.conftest import facts_in

Key = tuple[str, str]


@dataclass
class World:
    """Texts that were read, by object, and merges as (kept, dropped) by their id."""

    texts: dict[str, str] = field(default_factory=dict)
    merges: dict[str, tuple[Key, Key]] = field(default_factory=dict)

    def head(self, key: Key) -> Key:
        into = {dropped: kept for kept, dropped in self.merges.values()}
        while key in into:
            key = into[key]
        return key

    def seen(self, readable: Iterable[str]) -> dict[Key, "Seen"]:
        found: dict[Key, Seen] = defaultdict(Seen)
        for id in readable:
            if id in self.texts:
                self._read(id, self.texts[id], found)
        return dict(found)

    def _read(self, id: str, text: str, found: Mapping[Key, "Seen"]) -> None:
        reply, keys, places = facts_in(text), dict[str, Key](), set[tuple[Key, int]]()
        for one in reply["entities"]:
            key = keys[one["id"]] = (one["kind"], normalise_name(one["name"], one["kind"]))
            if (key, at := text.find(one["quote"])) not in places:
                places.add((key, at))
                seen = found[self.head(key)]
                seen.names[one_line(one["name"])] += 1
                seen.types[key] = one["kind"]
                seen.documents.add(id)
                seen.members[key][one_line(one["name"])] += 1
        for told in reply["relations"]:
            source, target = self.head(keys[told["from"]]), self.head(keys[told["to"]])
            if source != target:
                found[source].relations["out", told["kind"], target].add(id)
                found[target].relations["in", told["kind"], source].add(id)


@dataclass
class Seen:
    """One entity of a world."""

    names: Counter[str] = field(default_factory=Counter)
    types: dict[Key, str] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    members: dict[Key, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    relations: dict[tuple[str, str, Key], set[str]] = field(default_factory=lambda: defaultdict(set))

    def type_of(self, head: Key) -> str:
        return self.types.get(head) or min(self.types.values())


def ranked(names: Counter[str]) -> list[str]:
    return sorted(names, key=lambda name: (-names[name], name.encode()))


def listed(world: World, readable: Iterable[str]) -> list[tuple[Any, ...]]:
    """The listing, without ids."""
    return sorted(
        (one.type_of(head), *_names(one), sum(one.names.values()), len(one.documents), len(one.relations))
        for head, one in world.seen(readable).items()
    )


def _names(one: Seen) -> tuple[str, tuple[str, ...]]:
    first, *others = ranked(one.names)
    return first, tuple(others)


def told(world: World, readable: Iterable[str]) -> list[tuple[Any, ...]]:
    """Every entity's page, without ids: its relations and the names of what was merged into it."""
    seen = world.seen(readable)
    dropped = [dropped for _, dropped in world.merges.values()]
    return sorted(
        (
            ranked(one.names)[0],
            sorted(
                (direction, type, ranked(seen[other].names)[0], len(documents))
                for (direction, type, other), documents in one.relations.items()
            ),
            sorted(ranked(one.members[key])[0] for key in dropped if key in one.members),
        )
        for one in seen.values()
    )
