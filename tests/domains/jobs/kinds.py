"""Job kinds of the tests, plugged in like a domain's."""

import asyncio
from typing import Any

import msgspec

from atrium.boot.wiring import DOMAINS
from atrium.kit.errors import Invalid, Unavailable
from atrium.product.notes import service as notes
from atrium.seams.context import Operation
from atrium.seams.jobs import Assignment, JobKind
from atrium.seams.wiring import Domain


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """What the kinds here take."""

    say: str = ""
    seconds: float = 0


async def speak(op: Operation, job: Assignment) -> dict[str, Any]:
    await asyncio.sleep(job.arguments.seconds)
    return {"said": job.arguments.say, "by": op.who.username, "attempt": job.attempt}


async def stumble(op: Operation, job: Assignment) -> dict[str, Any]:
    """Fails once in a way that passes, then works."""
    if job.attempt == 1:
        raise Unavailable("not just now")
    return {"attempt": job.attempt}


async def refuse(op: Operation, job: Assignment) -> None:
    raise Invalid("this can never work")


async def break_down(op: Operation, job: Assignment) -> None:
    raise KeyError("a defect")


async def may(op: Operation, job: Assignment) -> list[str]:
    return sorted(op.who.permissions)


async def wait_for_cancel(op: Operation, job: Assignment) -> str:
    await job.cancel.wait()
    return "heard"


async def write_when_cancelled(op: Operation, job: Assignment) -> str:
    """Writes a note in its owner's name, late."""
    await job.cancel.wait()
    async with op.begin() as ctx:
        return str((await notes.create_note(ctx, "late", "", "private")).id)


def problem(result: Any) -> str | None:
    return None if result == {"fine": True} else "it is not fine"


def kind(name: str, run: Any = speak, **more: Any) -> JobKind:
    return JobKind(name=name, description=name, arguments=Given, run=run, **more)


KINDS = (
    kind("probe.plain"),
    kind("probe.other"),
    kind("probe.brief", lease=1),
    kind("probe.once", lease=1, attempts=1),
    kind("probe.spends", reserves=lambda given: {"ai.requests": 1}),
    kind("probe.estimates", reserves=lambda given: {"ai.tokens.total": 100}, used=lambda given, result: {"ai.tokens.total": 7}),
    kind("probe.stumbles", stumble),
    kind("probe.refuses", refuse),
    kind("probe.breaks", break_down, attempts=2),
    kind("probe.may", may),
    kind("probe.listens", wait_for_cancel, lease=1),
    kind("probe.writes", write_when_cancelled, lease=1, attempts=1),
    kind("probe.inner", public=False),
    kind("probe.stress", lease=1, attempts=100),
    kind("probe.stress-too", lease=1, attempts=100),
    kind("probe.remote", None, problem_with=problem),
    kind("probe.remote-brief", None, problem_with=problem, lease=1),
)  # fmt: skip
WITH_PROBES = (*DOMAINS, Domain("probe", job_kinds=KINDS))
