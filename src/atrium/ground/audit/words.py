"""What the trail says of private things: an event names the thing by its id, and a person who may read the thing is told its name.

Events of earlier releases hold keys and titles, which the signed chain keeps as they are: they are left out when events are read,
unless the thing is the team's or the reader's own.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar
from uuid import UUID

import msgspec

from atrium.ground.audit.model import AuditEvent, ExportedEvent
from atrium.seams.context import Context
from atrium.seams.sharing import Shareable, Thing, names_of

AnyEvent = TypeVar("AnyEvent", AuditEvent, ExportedEvent)


async def for_reader(ctx: Context, events: Sequence[AuditEvent]) -> list[AuditEvent]:
    """Events as the caller may read them."""
    shareables = ctx.services.registry.shareables.values()
    about = {event.id: thing for event in events if (thing := thing_of(event, shareables)) is not None}
    names = await names_of(ctx, set(about.values()), trashed=True)
    open_now = await names_of(ctx, names)
    shown = []
    for event in events:
        thing = about.get(event.id)
        name = None if thing is None else names.get(thing)
        readable = event if name is not None and name.common else without_words(event, shareables)
        if name is not None:
            readable = msgspec.structs.replace(readable, name=name.name, opens=thing in open_now)
        shown.append(readable)
    return shown


def thing_of(event: AuditEvent | ExportedEvent, shareables: Iterable[Shareable]) -> Thing | None:
    """The thing that an event is about; None when it is about something else."""
    for one in shareables:
        if one.events and event.kind.startswith(one.events):
            try:
                return one.kind, UUID(event.subject)
            except ValueError:
                return None
    return None


def without_words(event: AnyEvent, shareables: Collection[Shareable]) -> AnyEvent:
    """The event without words of the thing that it is about."""
    hidden = {word for one in shareables if one.events and event.kind.startswith(one.events) for word in one.words}
    if hidden.isdisjoint(event.facts):
        return event
    facts = {name: fact for name, fact in event.facts.items() if name not in hidden}
    return msgspec.structs.replace(event, facts=facts, redacted=True)
