"""Health checks of the machines that this server calls, made by one process at a time."""

import asyncio
from collections.abc import Iterable

from atrium.engine.executors import store
from atrium.engine.executors.model import LOCAL, PushEndpoint
from atrium.engine.executors.turns import configured_port, endpoint_port, local_port
from atrium.engine.inference.wire import OpenAIWire
from atrium.seams.context import Services
from atrium.seams.setting_values import PushExecutor

AT_ONCE = 10


async def probe_executors(services: Services) -> int:
    """Look at every machine whose turn it is; how many were looked at. Nothing is held while they answer."""
    async with services.database.begin_system() as db:
        targets = _targets(services, await store.list_endpoints(db))
        due = await store.take_due_probes(db, sorted(targets))
    limit = asyncio.Semaphore(AT_ONCE)

    async def look(subject: str) -> bool:
        async with limit:
            return await targets[subject].is_up()

    answers = await asyncio.gather(*map(look, due))
    if due:
        async with services.database.begin_system() as db:
            await store.note_probes(db, due, answers)
    return len(due)


def subject_of(one: PushExecutor) -> str:
    """What a machine of the settings is known by; its URL too, so that one that moved is looked at afresh."""
    return f"settings|{one.name}|{one.url}"


def _targets(services: Services, endpoints: Iterable[PushEndpoint]) -> dict[str, OpenAIWire]:
    found = {
        str(endpoint.id): endpoint_port(services, endpoint, endpoint.url)
        for endpoint in endpoints
        if endpoint.url is not None
    }
    found |= {subject_of(one): configured_port(services, one) for one in services.settings.push_executors}
    if services.settings.local_model_url:
        found[LOCAL] = local_port(services)
    return found
