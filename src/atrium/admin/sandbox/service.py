"""The verbs of guests: learn what there is, call a tool in a process of the caller's own, tell how they are."""

import asyncio
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from atrium.admin.sandbox import capabilities, folders
from atrium.admin.sandbox.guest_start import granted_to, introduce, start_process, tools_of
from atrium.admin.sandbox.model import (
    Guest,
    GuestBroke,
    GuestCard,
    GuestChanged,
    GuestPage,
    Guests,
    GuestsBusy,
    GuestState,
    GuestTimedOut,
    GuestUnavailable,
    SandboxCard,
)
from atrium.admin.sandbox.process import GuestProcess
from atrium.engine.tools.pins import pin_of
from atrium.engine.tools.service import effect_of
from atrium.kit.errors import AppError
from atrium.kit.isolation.process_pool import PoolBusy, ProcessPool
from atrium.kit.telemetry.log import log
from atrium.seams.context import Operation, Services
from atrium.seams.tools import Tool

# The domain's name, under which its state is kept.
_NAME = "sandbox"
_QUEUE_SECONDS = 20.0
_LONGEST_IDLE = 600.0
_FIRST_RETRY, _LONGEST_RETRY = 10.0, 600.0
_START_SECONDS = 10.0


class ProcessKey(msgspec.Struct, frozen=True):
    """Who a process serves: one person with the same rights, so that what it remembers reaches no other.

    A run that is bound by others has processes of its own: what another run was allowed to read is not remembered in them.
    """

    guest: str
    signature: bytes
    org_id: UUID
    team_id: UUID
    user_id: UUID
    permissions: frozenset[str]
    run_id: UUID | None = None


async def list_guests(op: Operation) -> GuestPage:
    """Every guest, with its processes and restarts in the caller's company."""
    reason = await op.services.sandbox.reason()
    known = _guests(op.services).known.values()
    return GuestPage(
        items=[_card(op, guest, reason) for guest in sorted(known, key=lambda one: one.id)],
        sandbox=SandboxCard(not reason, reason or None),
    )


def list_tools(services: Services) -> list[Tool]:
    """Every tool of every guest, as last introduced; none before the guests are started."""
    known = _guests(services).known if _NAME in services.started else {}
    return [tool for guest in known.values() for tool in guest.tools]


async def learn(services: Services) -> None:
    """Look at the folders again: new and changed guests introduce themselves, failed ones try again after a while."""
    if services.settings.oop_dir and _NAME in services.started:
        await _learn(services, _guests(services))


async def start(services: Services) -> Guests:
    """Learn what guests there are before the first request, as far as that takes no more than ten seconds."""
    guests = Guests(ProcessPool(services.settings.oop_processes))
    if services.settings.oop_dir:
        guests.first = asyncio.create_task(_learn(services, guests))
        await asyncio.wait([guests.first], timeout=_START_SECONDS)
    return guests


async def stop(services: Services, guests: Guests) -> None:
    """End every process."""
    if guests.first is not None:
        guests.first.cancel()
        await asyncio.gather(guests.first, return_exceptions=True)
    await guests.pool.close()


async def call(op: Operation, id: str, tool: Tool, arguments: Any) -> Any:
    """What a guest's tool answers, called as the operation's principal in a process that serves no other.

    Refused when the guest, started for this call, introduces the tool otherwise than it was when the team turned it on.
    """
    guest = _guests(op.services).known.get(id)
    if guest is None or guest.manifest is None:
        raise GuestUnavailable(f"the guest {id} is not there any more")
    granted = granted_to(op.services, guest.manifest)

    async def broker(name: str, params: dict[str, Any]) -> Any:
        return await capabilities.answer(op, granted, effect_of(tool), name, params)

    pool, key = _guests(op.services).pool, _key(guest, op)
    try:
        async with pool.hold(key, op.who.org_id, lambda: _started(op.services, guest), _QUEUE_SECONDS) as process:
            _require_unchanged(guest, tool)
            return await process.call(tool.origin, arguments, broker)
    except PoolBusy as error:
        raise GuestsBusy("every process of the guests is in use; try again in a moment") from error
    except (GuestBroke, GuestTimedOut) as error:
        guest.restarts[op.who.org_id] += 1
        log.warning("sandbox.guest_broke", guest=id, tool=tool.origin, org=op.who.org_id, error=error)
        raise


def _require_unchanged(guest: Guest, tool: Tool) -> None:
    if pin_of(tool) not in (pin_of(one) for one in guest.tools if one.name == tool.name):
        raise GuestChanged(f"{tool.source} has changed {tool.name}; an admin reviews that under Features and tools")


async def _started(services: Services, guest: Guest) -> GuestProcess:
    """A new process; when it introduces itself otherwise than the last one, what it says now counts."""
    process, said = await start_process(services, guest)
    try:
        if guest.manifest is not None:
            _keep_tools(guest, tools_of(services, guest.manifest, said, call))
    except BaseException:
        await process.end()
        raise
    return process


def _keep_tools(guest: Guest, tools: tuple[Tool, ...]) -> None:
    if [pin_of(tool) for tool in tools] != [pin_of(tool) for tool in guest.tools]:
        guest.tools = tools


def _guests(services: Services) -> Guests:
    found: Guests = services.started[_NAME]
    return found


async def _learn(services: Services, guests: Guests) -> None:
    async with guests.learning:
        found = await asyncio.to_thread(folders.find_folders, Path(services.settings.oop_dir))
        for id in guests.known.keys() - found.keys():
            del guests.known[id]
        changed = [id for id, (_, signature) in found.items() if _is_due(guests.known.get(id), signature)]
        for id in changed:
            guests.known[id] = await _learned(services, guests.known.get(id), Guest(id, *found[id]))
        guests.pool.retire(lambda key: _is_old(guests, key))
        guests.pool.retire(lambda key: True, idle=_LONGEST_IDLE)


async def _learned(services: Services, before: Guest | None, guest: Guest) -> Guest:
    """The guest with its tools, or with why it cannot be used and when to try again."""
    if before is not None:
        guest.restarts = before.restarts
        guest.failures = before.failures if before.signature == guest.signature else 0
    try:
        guest.manifest = await asyncio.to_thread(folders.read_manifest, guest.folder)
        guest.tools = tools_of(services, guest.manifest, await introduce(services, guest), call)
        guest.failures = 0
        log.info("sandbox.guest_ready", guest=guest.id, tools=len(guest.tools))
    except (folders.ManifestRefused, AppError) as error:
        guest.error = str(error)
        guest.retry_at = time.monotonic() + min(_LONGEST_RETRY, _FIRST_RETRY * 2**guest.failures)
        guest.failures = min(guest.failures + 1, 10)
        log.warning("sandbox.guest_failed", guest=guest.id, problem=guest.error)
    return guest


def _is_due(known: Guest | None, signature: bytes) -> bool:
    if known is None or known.signature != signature:
        return True
    return bool(known.error) and time.monotonic() >= known.retry_at


def _is_old(guests: Guests, key: ProcessKey) -> bool:
    guest = guests.known.get(key.guest)
    return guest is None or guest.signature != key.signature


def _key(guest: Guest, op: Operation) -> ProcessKey:
    who, run_id = op.who, op.step.run_id if op.is_bound and op.step is not None else None
    return ProcessKey(guest.id, guest.signature, who.org_id, who.team_id, who.user_id, who.permissions, run_id)


def _card(op: Operation, guest: Guest, reason: str) -> GuestCard:
    manifest = guest.manifest
    return GuestCard(
        id=guest.id,
        name=manifest.name if manifest else guest.id,
        version=manifest.version if manifest else "",
        state=_state(op, guest, reason),
        tools=[tool.name for tool in guest.tools],
        capabilities=sorted(manifest.capabilities) if manifest else [],
        granted=sorted(granted_to(op.services, manifest)) if manifest else [],
        restarts=guest.restarts[op.who.org_id],
        error=guest.error or None,
    )


def _state(op: Operation, guest: Guest, reason: str) -> GuestState:
    if guest.manifest is None:
        return "failed"
    if reason:
        return "unavailable"
    if guest.error:
        return "failed"
    org_id = op.who.org_id
    has_process = _guests(op.services).pool.owns_any(lambda key: (key.guest, key.org_id) == (guest.id, org_id))
    return "running" if has_process else "ready"
