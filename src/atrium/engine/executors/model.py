"""The nouns of executors."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Invalid, Missing
from atrium.kit.web.etags import etag_of

Mode = Literal["local", "push", "pull"]
Role = Literal["utility"]
LOCAL = "local"
SIMULATED = "simulated"


class ExecutorSpec(msgspec.Struct, frozen=True):
    """A machine to put into service; a push executor has a URL and perhaps a key."""

    name: str
    mode: Mode
    model: str | None = None
    url: str | None = None
    key: str | None = None
    capabilities: list[str] = []


class Executor(msgspec.Struct, frozen=True):
    """A machine as those who may use it see it; `company` names the one it serves alone, `healthy` is None before the first probe."""

    id: UUID | None
    name: str
    mode: Mode
    model: str | None
    capabilities: list[str]
    org_id: UUID | None
    company: str | None
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


class StoredExecutor(msgspec.Struct, frozen=True):
    """An executor for listing it and for serving its worker; `fresh` when its worker was seen in the last minute."""

    id: UUID
    bound_to: UUID | None
    name: str
    mode: Mode
    model: str | None
    capabilities: list[str]
    created_at: datetime
    seen_at: datetime | None
    fresh: bool


class ExecutorChoice(msgspec.Struct, frozen=True):
    """An executor for placing a job; a company's own transaction sees no more of it. `own` is one that serves this company alone."""

    id: UUID
    name: str
    mode: Mode
    capabilities: list[str]
    own: bool


class PushEndpoint(msgspec.Struct, frozen=True):
    """An executor for calling it, with its sealed key; a pull executor has no URL. `own` is one that serves one company alone."""

    id: UUID
    name: str
    model: str | None
    url: str | None
    key_sealed: bytes | None
    own: bool
    capabilities: list[str]


class Probe(msgspec.Struct, frozen=True):
    """The result of a probe; `healthy` is None when the last one is too old."""

    subject: str
    healthy: bool | None
    seen_at: datetime | None


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


class ReplyChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Characters of the reply from a position on; what was heard before is ignored."""

    at: Annotated[int, msgspec.Meta(ge=0, le=4_000_000)]
    text: Annotated[str, msgspec.Meta(max_length=200_000)]


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

    def etag(self) -> str:
        """Differs when the team has chosen otherwise."""
        return etag_of(self.roles)


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


class TooManyExecutors(Conflict):
    """A company has as many executors in service as one may have."""

    code = "executors.too_many"
    title = "Too many executors"


class BadExecutor(Invalid):
    """The parts do not fit the mode, or the URL leads somewhere it may not."""

    code = "executors.invalid"
    title = "Not an executor"
