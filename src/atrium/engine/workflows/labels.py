"""What people call the items of a map, and what can be opened of them; nothing of what the reader cannot read."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows import outcome_rows
from atrium.engine.workflows.run_model import MapItem
from atrium.seams.context import Context
from atrium.seams.sharing import Thing, names_of
from atrium.seams.tools import ArtifactRef

LONGEST = 120
# Where an item says what it is, the first that is there.
_IDS = ("object_id", "note_id", "entity_id", "id", "object")
_NAMES = ("title", "name", "filename", "key", "label", "email", "locale", "id")
# Kinds of things that a screen shows.
_OPENED = ("note", "object", "entity")


async def label(ctx: Context, run_id: UUID, items: Sequence[MapItem]) -> list[MapItem]:
    """Items with their labels: the name of the thing that an item is about, else what its value says of itself."""
    named = {item.index: id for item in items if (id := _id_in(item.item)) is not None}
    kinds = await outcome_rows.list_kinds(ctx.db, ctx.who.org_id, run_id, set(named.values())) if named else {}
    names = await names_of(ctx, {(kind, id) for id, kind in kinds.items()})
    shown = {thing: name.name for thing, name in names.items()}
    return [_labelled(item, _thing(named.get(item.index), kinds), shown) for item in items]


def _thing(id: UUID | None, kinds: Mapping[UUID, str]) -> Thing | None:
    return None if id is None or id not in kinds else (kinds[id], id)


def _labelled(item: MapItem, thing: Thing | None, names: Mapping[Thing, str]) -> MapItem:
    if thing is None:
        return msgspec.structs.replace(item, label=label_of(item.item))
    if thing not in names:
        return item
    ref = msgspec.convert({"kind": thing[0], "id": thing[1]}, ArtifactRef) if thing[0] in _OPENED else None
    return msgspec.structs.replace(item, label=_short(names[thing]), ref=ref)


def _id_in(value: Any) -> UUID | None:
    """The id of the thing that a value is about."""
    if isinstance(value, Mapping):
        return next((id for name in _IDS if (id := _id_in_text(value.get(name))) is not None), None)
    return _id_in_text(value)


def _id_in_text(value: Any) -> UUID | None:
    if not isinstance(value, str) or len(value) not in (32, 36):
        return None
    try:
        return UUID(value)
    except ValueError:
        return None


def label_of(value: Any) -> str | None:
    """What a value says of itself in one line; None where it is only structure."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in _NAMES if isinstance(value.get(name), str) and value[name].strip()), None)
    if isinstance(value, str):
        return _short(value) or None
    return None if value is None or isinstance(value, Sequence) else msgspec.json.encode(value).decode()[:LONGEST]


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
