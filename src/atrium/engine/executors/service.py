"""The verbs of executors: make, list, retire, choose; and what a worker may do."""

import asyncio
from uuid import UUID

from atrium.engine.executors import store
from atrium.engine.executors.health_checks import subject_of
from atrium.engine.executors.model import (
    LOCAL,
    SIMULATED,
    BadExecutor,
    Executor,
    ExecutorMissing,
    ExecutorSpec,
    ModelRoles,
    NameTaken,
    NewExecutor,
    Probe,
    Role,
    StoredExecutor,
    TooManyExecutors,
)
from atrium.engine.executors.turns import configured_port, default_name, key_binding, list_chosen, local_port
from atrium.engine.jobs import remote
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.identity import role_changes
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import OrgMissing
from atrium.kit.crypto.keys import Keyring
from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.kit.ids import NIL, new_id
from atrium.kit.postgres.database import Database
from atrium.kit.web.addresses import NotPublic, require_public
from atrium.kit.web.etags import require_current
from atrium.seams.context import Context, Operation, Services
from atrium.seams.setting_values import PushExecutor

# The list of executors is one page, and every push executor is asked whether it is well.
MOST_OF_COMPANY = 100


async def create_executor(op: Operation, spec: ExecutorSpec, bound_to: UUID | None) -> NewExecutor:
    """Put a machine into service; a pull one gets a credential that may work and nothing else, and its token once."""
    name, mode = spec.name, spec.mode
    if (mode == "push") != (spec.url is not None) or (mode == "pull" and spec.key is not None):
        raise BadExecutor("a push executor has a url and perhaps a key; a pull executor has neither")
    if name.lower() == LOCAL:
        raise NameTaken(f"{LOCAL} is this server itself", name=name)
    if bound_to is None and op.services.settings.push_executors.find(name):
        raise NameTaken(f"{name} is an executor of this server's settings", name=name)
    if spec.url is not None:
        await _require_reachable(op, spec.url)
    if not op.who.operator and bound_to != op.who.org_id:
        # The owner of a hosted tenant: their machines serve their own company, as any company's do.
        if bound_to is not None:
            raise OrgMissing(f"there is no company {bound_to}")
        bound_to = op.who.org_id
    id = new_id()
    sealed = op.services.keys.seal(spec.key.encode(), key_binding(id)) if spec.key else None
    async with op.begin_system() as ctx:
        if bound_to is not None:
            await tenancy.read_org(ctx, str(bound_to))
            if await store.count_bound(ctx.db, bound_to) >= MOST_OF_COMPANY:
                raise TooManyExecutors(f"a company has at most {MOST_OF_COMPANY} executors; retire one first")
        row = await store.insert_executor(ctx.db, id, spec, sealed, bound_to, op.who.user_id)
        if row is None:
            raise NameTaken(f"an executor called {name} is in service already", name=name)
        token = new_token("worker") if mode == "pull" else None
        if token is not None:
            await store.insert_credential(ctx.db, id, digest_of(token.encode()))
        facts = {"name": name, "mode": mode, "bound_to": bound_to and str(bound_to)}
        await audit.record(ctx, "executors.created", id, **facts, **await role_changes.token_of(ctx))
    return NewExecutor(id, name, mode, spec.model, spec.capabilities, bound_to, "active", row.created_at, token)


async def list_executors(op: Operation) -> list[Executor]:
    """This server first, then the machines of its settings, then every other that serves the caller's company.

    Operators see those that serve other companies too.
    """
    return await _list(op, None if _runs_instance(op) else op.who.org_id)


async def list_all(op: Operation) -> list[Executor]:
    """Every machine in service, of all companies; for those who run the instance."""
    return await _list(op, None)


async def look_at_configured(services: Services) -> dict[str, bool]:
    """Whether each machine of the settings answers at this moment, by name; empty when the settings name none."""
    settings = services.settings
    ports = {one.name: configured_port(services, one) for one in settings.push_executors}
    if settings.local_model_url:
        ports[LOCAL] = local_port(services)
    answers = await asyncio.gather(*(port.is_up() for port in ports.values()))
    return dict(zip(ports, answers, strict=True))


async def _list(op: Operation, serving: UUID | None) -> list[Executor]:
    async with op.begin_system() as ctx:
        rows = await store.list_executors(ctx.db, serving)
        probes = await store.list_probes(ctx.db)
        companies = await tenancy.list_names(ctx, [row.bound_to for row in rows if row.bound_to])
    configured = [_configured(one, probes.get(subject_of(one))) for one in op.services.settings.push_executors]
    made = [_shown(row, companies.get(row.bound_to or NIL), probes.get(str(row.id))) for row in rows]
    return [_local(op, probes.get(LOCAL)), *configured, *made]


async def find_chat_executor(op: Operation) -> Executor:
    """The machine that a chat would use now; of two with one name the company's own."""
    name = op.services.settings.chat_executor or LOCAL
    found = [one for one in await _list(op, op.who.org_id) if one.name.lower() == name.lower()]
    if not found:
        raise ExecutorMissing(f"there is no executor {name}, which chats are to use", name=name)
    return max(found, key=lambda one: one.org_id is not None)


async def retire_executor(op: Operation, id: UUID) -> None:
    """Out of service at once: its token ends, waiting polls end, the jobs it holds go back to their queues, none waits for it.

    A company retires its own machines, an operator any.
    """
    access.require_either(op, "instance:manage", "org:manage")
    async with op.begin_system() as ctx:
        row = await store.retire(ctx.db, id, None if _runs_instance(op) else op.who.org_id)
        if row is None:
            raise ExecutorMissing("there is no such executor in service")
        await store.delete_credential(ctx.db, id)
        await store.notify_ended(ctx.db, id)
        await audit.record(ctx, "executors.retired", id, name=row.name)
    await remote.return_held(op.services, id)
    await remote.take_over(op.services, id)


async def read_roles(op: Operation) -> ModelRoles:
    """Which executor the team uses for each role."""
    async with op.begin() as ctx:
        return await _roles_of(ctx)


async def _roles_of(ctx: Context) -> ModelRoles:
    chosen = await list_chosen(ctx)
    return ModelRoles({"utility": chosen.get("utility")}, {"utility": await default_name(ctx)})


async def set_roles(op: Operation, roles: dict[Role, str | None], if_match: str | None) -> ModelRoles:
    """Choose the executors of roles by name; null goes back to the instance's default."""
    known = {executor.name for executor in await _list(op, op.who.org_id)}
    for name in roles.values():
        if name is not None and name not in known:
            raise BadExecutor(f"there is no executor {name} for your company", name=name)
    async with op.begin() as ctx:
        await store.lock_roles(ctx.db, ctx.who.team_id)
        require_current(if_match, (await _roles_of(ctx)).etag())
        for role, name in roles.items():
            await _set_role(ctx, role, name)
        await audit.record(ctx, "executors.roles_set", ctx.who.team_id, **roles)
        return await _roles_of(ctx)


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every key again under the newest of the instance's; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for id, sealed in await store.list_sealed(db):
            if (again := keys.reseal(sealed, key_binding(id))) is not None:
                await store.replace_sealed(db, id, again)
                changed += 1
    return changed


async def _set_role(ctx: Context, role: Role, name: str | None) -> None:
    if name is None:
        await store.delete_role(ctx.db, ctx.who.org_id, ctx.who.team_id, role)
    else:
        await store.put_role(ctx.db, ctx.who.org_id, ctx.who.team_id, role, name)


async def _require_reachable(op: Operation, url: str) -> None:
    try:
        # The exceptions are for operators' executors only: a company could reach any port of that host.
        trusted = op.services.settings.trusted_executor_hosts() if op.who.operator else frozenset()
        await require_public(url, trusted)
    except NotPublic as error:
        raise BadExecutor(str(error), errors=[{"path": "url", "message": str(error)}]) from error


def _runs_instance(op: Operation) -> bool:
    return op.who.operator and "instance:manage" in op.who.permissions


def _local(op: Operation, probe: Probe | None) -> Executor:
    settings = op.services.settings
    if not settings.local_model_url:
        return Executor(None, LOCAL, "local", SIMULATED, [], None, None, "active", True, None, None)
    healthy, seen_at = (probe.healthy, probe.seen_at) if probe else (None, None)
    return Executor(
        None, LOCAL, "local", settings.local_model or None, [], None, None, "active", healthy, seen_at, None
    )


def _configured(one: PushExecutor, probe: Probe | None) -> Executor:
    healthy, seen_at = (probe.healthy, probe.seen_at) if probe else (None, None)
    return Executor(None, one.name, "push", one.model or None, [], None, None, "active", healthy, seen_at, None)


def _shown(row: StoredExecutor, company: str | None, probe: Probe | None) -> Executor:
    """A machine that asks is healthy while it asks; one that is called, while it answers."""
    healthy, seen_at = (row.fresh, row.seen_at) if row.mode == "pull" else (None, None)
    if probe is not None:
        healthy, seen_at = probe.healthy, probe.seen_at
    return Executor(
        row.id, row.name, row.mode, row.model, row.capabilities, row.bound_to, company, "active", healthy, seen_at,
        row.created_at,
    )  # fmt: skip
