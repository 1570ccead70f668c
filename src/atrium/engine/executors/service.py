"""The verbs of executors: make, list, retire; and what a worker may do with its jobs."""

from typing import Any
from uuid import UUID

from atrium.engine.executors import store
from atrium.engine.executors.model import (
    LOCAL,
    SIMULATED,
    BadExecutor,
    ClaimedJob,
    ClaimReply,
    Executor,
    ExecutorMissing,
    LeaseReply,
    Mode,
    ModelRoles,
    NameTaken,
    NewExecutor,
    Probe,
    Role,
    Row,
    SettledReply,
    Worker,
)
from atrium.engine.executors.probing import probe_executors as probe_executors
from atrium.engine.executors.probing import subject_of
from atrium.engine.executors.turns import place_of
from atrium.engine.jobs import service as jobs
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.tenancy import service as tenancy
from atrium.kit.addresses import NotPublic, require_public
from atrium.kit.database import Database
from atrium.kit.errors import Unauthenticated
from atrium.kit.ids import new_id
from atrium.kit.keys import Keyring
from atrium.kit.settings import PushExecutor
from atrium.seams.context import Context, Operation


async def create_executor(
    op: Operation,
    name: str,
    mode: Mode,
    model: str | None,
    url: str | None,
    key: str | None,
    capabilities: list[str],
    bound_to: UUID | None,
) -> NewExecutor:
    """Put a machine into service; a pull one gets an account that may work and nothing else, and its token once."""
    if (mode == "push") != (url is not None) or (mode == "pull" and key is not None):
        raise BadExecutor("a push executor has a url and perhaps a key; a pull executor has neither")
    if name.lower() == LOCAL:
        raise NameTaken(f"{LOCAL} is this server itself", name=name)
    if bound_to is None and op.services.settings.push_executors.find(name):
        raise NameTaken(f"{name} is an executor of this server's settings", name=name)
    if url is not None:
        await _require_reachable(op, url)
    id = new_id()
    sealed = op.services.keys.seal(key.encode(), place_of(id)) if key else None
    async with op.begin_system() as ctx:
        if bound_to is not None:
            await tenancy.read_org(ctx, str(bound_to))
        issued = await identity.issue_worker_token(ctx, name) if mode == "pull" else None
        row = await store.insert_executor(
            ctx.db,
            id,
            bound_to,
            name,
            mode,
            model,
            url,
            sealed,
            capabilities,
            issued.id if issued else None,
            op.who.user_id,
        )
        if row is None:
            raise NameTaken(f"an executor called {name} is in service already", name=name)
        await audit.record(ctx, "executors.created", id, name=name, mode=mode, bound_to=bound_to and str(bound_to))
    return NewExecutor(
        id, name, mode, model, capabilities, bound_to, "active", row.created_at, issued.token if issued else None
    )


async def list_executors(op: Operation) -> list[Executor]:
    """This server first, then the machines of its settings, then every other that serves the caller's company."""
    async with op.begin_system() as ctx:
        rows = await store.list_executors(ctx.db, op.who.org_id)
        probes = await store.list_probes(ctx.db)
    configured = [_configured(one, probes.get(subject_of(one))) for one in op.services.settings.push_executors]
    return [_local(op, probes.get(LOCAL)), *configured, *(_shown(row, probes.get(str(row.id))) for row in rows)]


async def retire_executor(op: Operation, id: UUID) -> None:
    """Out of service at once: its token ends, the jobs it holds go back to their queues, and none waits for it any longer."""
    async with op.begin_system() as ctx:
        row = await store.retire(ctx.db, id)
        if row is None:
            raise ExecutorMissing("there is no such executor in service")
        if row.token_id is not None:
            await identity.revoke_worker_token(ctx, row.token_id)
        await audit.record(ctx, "executors.retired", id, name=row.name)
    await jobs.return_held(op.services, id)
    await jobs.take_over(op.services, id)


async def claim_job(op: Operation, kinds: list[str], models: list[str], seconds: float) -> ClaimReply | None:
    """A job this worker can do, as soon as there is one; None after so many seconds without."""
    worker = await _worker(op)
    if worker.capabilities:
        kinds = [kind for kind in kinds if kind in worker.capabilities]
    able = models or ([worker.model] if worker.model else [])
    attempt = await jobs.claim_remote(op.services, worker.id, worker.bound_to, kinds, able, seconds, op.gone)
    if attempt is None:
        return None
    if not await _still_admitted(op):
        await jobs.hand_back(op.services, attempt)
        raise Unauthenticated("this token was revoked while its worker waited")
    claim = attempt.claim
    job = ClaimedJob(claim.id, claim.kind, attempt.input, claim.attempt, claim.model)
    return ClaimReply(job, claim.token, claim.lease_until)


async def extend_lease(op: Operation, id: UUID, token: str | None) -> LeaseReply:
    """Keep a job for longer."""
    worker = await _worker(op)
    lease = await jobs.extend_lease(op.services, worker.id, worker.bound_to, id, token)
    return LeaseReply(lease.lease_until, lease.cancel_requested)


async def complete_job(op: Operation, id: UUID, token: str | None, result: Any) -> SettledReply:
    """Hand in a result; the kind's own check may refuse it, and then the job is still held."""
    worker = await _worker(op)
    settled = await jobs.complete_remote(op.services, worker.id, worker.bound_to, id, token, result)
    return SettledReply(id, _wire(settled.state))


async def fail_job(op: Operation, id: UUID, token: str | None, error: str) -> SettledReply:
    """Give up on an attempt; another follows while there are attempts left."""
    worker = await _worker(op)
    settled = await jobs.fail_remote(op.services, worker.id, worker.bound_to, id, token, error)
    return SettledReply(id, _wire(settled.state))


async def read_roles(op: Operation) -> ModelRoles:
    """Which executor the team uses for each role."""
    async with op.begin() as ctx:
        chosen = await store.list_roles(ctx.db, ctx.who.org_id, ctx.who.team_id)
    return ModelRoles({"utility": chosen.get("utility")}, {"utility": op.services.settings.utility_executor or LOCAL})


async def set_roles(op: Operation, roles: dict[Role, str | None]) -> ModelRoles:
    """Choose the executors of roles by name; null goes back to the instance's default."""
    known = {executor.name for executor in await list_executors(op)}
    for name in roles.values():
        if name is not None and name not in known:
            raise BadExecutor(f"there is no executor {name} for your company", name=name)
    async with op.begin() as ctx:
        for role, name in roles.items():
            await _set_role(ctx, role, name)
        await audit.record(ctx, "executors.roles_set", ctx.who.team_id, **roles)
    return await read_roles(op)


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every key again under the newest of the instance's; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for id, sealed in await store.list_sealed(db):
            if not keys.is_current(sealed):
                await store.replace_sealed(db, id, keys.seal(keys.open(sealed, place_of(id)), place_of(id)))
                changed += 1
    return changed


async def forget_probes(database: Database) -> int:
    """Drop what was found about machines that are gone."""
    async with database.begin_system() as db:
        return await store.forget_probes(db)


async def _set_role(ctx: Context, role: Role, name: str | None) -> None:
    if name is None:
        await store.delete_role(ctx.db, ctx.who.org_id, ctx.who.team_id, role)
    else:
        await store.put_role(ctx.db, ctx.who.org_id, ctx.who.team_id, role, name)


async def _worker(op: Operation) -> Worker:
    """Who is asking: the executor this token was made for, or a person, who serves their own company."""
    async with op.begin_system() as ctx:
        row = await store.find_by_token(ctx.db, op.who.credential_id)
        if row is None:
            return Worker(op.who.credential_id, op.who.org_id)
        if not row.fresh:
            await store.note_seen(ctx.db, row.id)
    return Worker(row.id, row.bound_to, row.model, frozenset(row.capabilities), True)


async def _still_admitted(op: Operation) -> bool:
    """Whether the token that asked still stands: a worker may wait for half a minute, and a retired one gets nothing more."""
    async with op.begin() as ctx:
        return await identity.still_stands(ctx)


async def _require_reachable(op: Operation, url: str) -> None:
    try:
        await require_public(url, op.services.settings.trusted_executor_hosts())
    except NotPublic as error:
        raise BadExecutor(str(error), errors=[{"path": "url", "message": str(error)}]) from error


def _local(op: Operation, probe: Probe | None) -> Executor:
    settings = op.services.settings
    if not settings.local_model_url:
        return Executor(None, LOCAL, "local", SIMULATED, [], None, "active", True, None, None)
    healthy, seen_at = (probe.healthy, probe.seen_at) if probe else (None, None)
    return Executor(None, LOCAL, "local", settings.local_model or None, [], None, "active", healthy, seen_at, None)


def _configured(one: PushExecutor, probe: Probe | None) -> Executor:
    healthy, seen_at = (probe.healthy, probe.seen_at) if probe else (None, None)
    return Executor(None, one.name, "push", one.model or None, [], None, "active", healthy, seen_at, None)


def _shown(row: Row, probe: Probe | None) -> Executor:
    """A machine that asks is healthy while it asks; one that is called, while it answers."""
    healthy, seen_at = (row.fresh, row.seen_at) if row.mode == "pull" else (None, None)
    if probe is not None:
        healthy, seen_at = probe.healthy, probe.seen_at
    return Executor(
        row.id, row.name, row.mode, row.model, row.capabilities, row.bound_to, "active", healthy, seen_at, row.created_at
    )  # fmt: skip


def _wire(state: str) -> str:
    return "queued" if state == "scheduled" else state
