"""The wire of executors and workers."""

from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.executors import service, workers
from atrium.engine.executors.model import (
    ClaimReply,
    Executor,
    ExecutorSpec,
    LeaseReply,
    ModelRoles,
    NewExecutor,
    ReplyChunk,
    Role,
    SettledReply,
)
from atrium.ground.identity.model import CurrentPassword
from atrium.kit.web.pages import Page
from atrium.seams.context import Operation
from atrium.seams.routes import Created, IfMatch

Short = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Names = Annotated[list[Short], msgspec.Meta(max_length=100)]
# Whatever it holds, a token that is not the current one is answered the same way.
Token = Annotated[str, msgspec.Meta(max_length=200)]


class CompanyExecutorDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A machine for the caller's company."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$(?!\n)")]
    mode: Literal["pull", "push"]
    model: Short | None = None
    url: Annotated[str, msgspec.Meta(max_length=2000)] | None = None
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)] | None = None
    capabilities: Names = []
    password: CurrentPassword | None = None


class ExecutorDraft(CompanyExecutorDraft, forbid_unknown_fields=True):
    """A machine for everybody, or for one company."""

    org_id: UUID | None = None


async def list_executors(op: Operation) -> Page[Executor]:
    """Executors that serve the caller's company, with their health."""
    return Page(await service.list_executors(op))


async def create_executor(op: Operation, body: ExecutorDraft) -> Created[NewExecutor]:
    """Put an executor into service; a pull worker's token is in this reply only."""
    return Created(await service.create_executor(op, _spec_of(body), body.org_id))


async def create_company_executor(op: Operation, body: CompanyExecutorDraft) -> Created[NewExecutor]:
    """Put an executor into service that serves the caller's company alone."""
    return Created(await service.create_executor(op, _spec_of(body), op.who.org_id))


def _spec_of(body: CompanyExecutorDraft) -> ExecutorSpec:
    return ExecutorSpec(body.name, body.mode, body.model, body.url, body.key, body.capabilities)


class RetiredExecutor(msgspec.Struct, frozen=True):
    """What is out of service."""

    id: UUID


async def retire_executor(op: Operation, id: UUID) -> RetiredExecutor:
    """Retire an executor: its token ends and the jobs it holds go back to their queues."""
    await service.retire_executor(op, id)
    return RetiredExecutor(id)


class ClaimAsk(msgspec.Struct, forbid_unknown_fields=True):
    """What the worker can do, and how many seconds it will wait for something to do."""

    kinds: Annotated[list[Short], msgspec.Meta(min_length=1, max_length=100)]
    models: Names = []
    max_wait: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


async def claim_job(op: Operation, body: ClaimAsk) -> ClaimReply | None:
    """Claim a job of these kinds under a lease; 204 when none came in time."""
    return await workers.claim_job(op, body.kinds, body.models, body.max_wait)


class Heartbeat(msgspec.Struct, forbid_unknown_fields=True):
    """A sign of life; `said` is how the reply goes on, for those who follow it."""

    claim_token: Token | None = None
    said: ReplyChunk | None = None


async def extend_lease(op: Operation, id: UUID, body: Heartbeat) -> LeaseReply:
    """Extend the lease of a claimed job, and learn whether it is still wanted."""
    return await workers.extend_lease(op, id, body.claim_token, body.said)


class Completion(msgspec.Struct, forbid_unknown_fields=True):
    """A result; its kind may refuse it."""

    __may_be_refused__: ClassVar[bool] = True
    result: Any
    claim_token: Token | None = None


async def complete_job(op: Operation, id: UUID, body: Completion) -> SettledReply:
    """Complete a claimed job; a result that its kind refuses leaves the claim as it was."""
    return await workers.complete_job(op, id, body.claim_token, body.result)


class FailureReport(msgspec.Struct, forbid_unknown_fields=True):
    """Why it did not work."""

    error: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    claim_token: Token | None = None


async def fail_job(op: Operation, id: UUID, body: FailureReport) -> SettledReply:
    """Fail a claimed job; it is tried again while it has attempts left."""
    return await workers.fail_job(op, id, body.claim_token, body.error)


class RoleChoice(msgspec.Struct, forbid_unknown_fields=True):
    """Executors by role; null is the instance's default."""

    roles: dict[Role, Short | None]


async def read_model_roles(op: Operation) -> ModelRoles:
    """The executor the team uses for each role, and the instance's default."""
    return await service.read_roles(op)


async def set_model_roles(op: Operation, body: RoleChoice, *, if_match: IfMatch | None = None) -> ModelRoles:
    """Choose which executor serves a role for the team."""
    return await service.set_roles(op, body.roles, if_match)
