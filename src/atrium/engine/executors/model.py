"""The nouns of executors."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Invalid, Missing

Mode = Literal["local", "push", "pull"]
Role = Literal["utility"]
LOCAL = "local"
SIMULATED = "simulated"


class Executor(msgspec.Struct, frozen=True):
    """A machine as those who may use it see it; `healthy` is None while nobody has looked."""

    id: UUID | None
    name: str
    mode: Mode
    model: str | None
    capabilities: list[str]
    org_id: UUID | None
    state: Literal["active", "retired"]
    healthy: bool | None
    last_seen_at: datetime | None
    created_at: datetime | None


class NewExecutor(msgspec.Struct, frozen=True):
    """An executor just made; a pull worker's token appears here and never again."""

    id: UUID
    name: str
    mode: Mode
    model: str | None
    capabilities: list[str]
    org_id: UUID | None
    state: Literal["active", "retired"]
    created_at: datetime
    worker_token: str | None


class Row(msgspec.Struct, frozen=True):
    """An executor as it is stored; never leaves the server."""

    id: UUID
    bound_to: UUID | None
    name: str
    mode: Mode
    model: str | None
    url: str | None
    capabilities: list[str]
    token_id: UUID | None
    created_at: datetime
    seen_at: datetime | None
    fresh: bool


class Serving(msgspec.Struct, frozen=True):
    """As much of an executor as a company needs to choose it; `own` is one that serves this company alone."""

    id: UUID
    name: str
    mode: Mode
    model: str | None
    capabilities: list[str]
    own: bool


class Door(msgspec.Struct, frozen=True):
    """How a push executor is called, and whether it serves one company alone; never leaves the server."""

    id: UUID
    name: str
    mode: Mode
    model: str | None
    url: str | None
    key_sealed: bytes | None
    own: bool


class Probe(msgspec.Struct, frozen=True):
    """What came of looking at a machine; `healthy` is None when nobody has looked lately."""

    subject: str
    healthy: bool | None
    seen_at: datetime | None


class Worker(msgspec.Struct, frozen=True):
    """Who claims: an executor, or a person whose role allows it; bound to a company, or to none."""

    id: UUID
    bound_to: UUID | None
    model: str | None = None
    capabilities: frozenset[str] = frozenset()
    executor: bool = False


class ClaimedJob(msgspec.Struct, frozen=True):
    """What a worker needs to do the work."""

    id: UUID
    kind: str
    input: Any
    attempt: int
    model: str | None


class ClaimReply(msgspec.Struct, frozen=True):
    """A job under a lease; every later word about it carries the token."""

    job: ClaimedJob
    claim_token: UUID
    lease_expires_at: datetime


class LeaseReply(msgspec.Struct, frozen=True):
    """The lease after a heartbeat, and whether anybody still wants the result."""

    lease_expires_at: datetime
    cancel_requested: bool


class SettledReply(msgspec.Struct, frozen=True):
    """Where the job stands now."""

    id: UUID
    state: str


class ModelRoles(msgspec.Struct, frozen=True):
    """The executor each role uses, by name; null is the instance's default."""

    roles: dict[Role, str | None]
    default: dict[Role, str]


class ExecutorMissing(Missing):
    """No such executor, or not one for this company."""

    code = "executors.missing"
    title = "No such executor"


class WrongExecutor(Conflict):
    """It is in service, but not for this."""

    code = "executors.wrong"
    title = "This executor does not do that"


class NameTaken(Conflict):
    """Another executor that is still in service has this name."""

    code = "executors.name_taken"
    title = "This name is taken"


class BadExecutor(Invalid):
    """The parts do not fit the mode, or the URL leads somewhere it may not."""

    code = "executors.invalid"
    title = "Not an executor"
