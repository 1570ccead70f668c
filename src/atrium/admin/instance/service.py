"""The verbs of the instance."""

import hmac

from atrium import __version__
from atrium.admin.backups import service as backups
from atrium.admin.instance import store
from atrium.admin.instance.model import (
    AlreadyBootstrapped,
    BootstrapTokenRequired,
    Config,
    Counts,
    FirstCompany,
    NotBootstrapped,
    NotReady,
    ProvisionedElsewhere,
    Status,
)
from atrium.admin.instance.samples import DOCUMENTS, NOTES
from atrium.engine.executors import service as executors
from atrium.engine.jobs import service as jobs
from atrium.engine.repository import release
from atrium.ground.access import service as access
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import passwords, sessions
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import Account, OrgPlace, Person, PersonDraft, Place
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import CompanyDraft, LocalePolicy
from atrium.kit.crypto.keys import Keyring, Unsealable
from atrium.kit.crypto.passwords import KDF
from atrium.kit.postgres.database import Database
from atrium.kit.refusals import CommandError
from atrium.kit.telemetry.metrics import Metrics
from atrium.kit.web.etags import require_current
from atrium.product.documents import service as documents
from atrium.product.notes import service as notes
from atrium.seams.context import Context, Operation, Principal

_KEY_CHECK, _KEY_BINDING = b"atrium", "instance|key_check"


class WrongKey(CommandError):
    """SERVICE_SECRET_KEY is not the key this database was sealed with."""


async def bootstrap(
    op: Operation, username: str, password: str, org_name: str, team_name: str, token: str | None
) -> FirstCompany:
    """Create the operator, the first company and its team: once, however many try at the same moment."""
    if op.services.settings.hosted:
        raise ProvisionedElsewhere("this instance is in hosted mode: its host provisions the owner")
    guard = op.services.settings.bootstrap_token
    if guard and not hmac.compare_digest(guard.encode(), (token or "").encode()):
        raise BootstrapTokenRequired("this instance is guarded: send SERVICE_BOOTSTRAP_TOKEN as the bearer credential")
    async with op.begin_system() as ctx:
        if (await tenancy.read_instance(ctx)).founding:
            raise AlreadyBootstrapped("this instance has its operator; sign in instead")
    passwords.require_strong(password, username)
    hashed = await op.services.passwords.hash(password)
    async with op.begin_system() as ctx:
        return await _found(ctx, username, hashed, org_name, team_name)


async def _found(ctx: Context, username: str, hashed: str, org_name: str, team_name: str) -> FirstCompany:
    org = await tenancy.create_org(ctx, org_name)
    team = await tenancy.create_team(ctx, org, team_name)
    draft = PersonDraft(username=username, role=Role.OWNER, org_role=OrgRole.OWNER, operator=True, password_hash=hashed)
    operator = await identity.create_person(ctx, org, team, draft)
    if not await tenancy.claim_instance(ctx, CompanyDraft(org.id, team.id, operator.id)):
        raise AlreadyBootstrapped("this instance was set up a moment ago; sign in instead")
    issued = await sessions.open_session(ctx, operator.id, team.id, org.id)
    who = Principal(
        user_id=operator.id, team_id=team.id, org_id=org.id, username=username, role=Role.OWNER, permissions=frozenset()
    )
    await audit.record(ctx.acting_as(who), "instance.bootstrapped", org.id, username=username)
    return FirstCompany(
        issued.token,
        Person(operator.id, username, operator.display_name),
        OrgPlace(org.id, org.name, org.slug),
        Place(team.id, team.name),
    )


async def found_tenant(ctx: Context, username: str, org_name: str, team_name: str) -> Account:
    """The one tenant of a hosted instance: its owner runs the company, the host runs the instance."""
    org = await tenancy.create_org(ctx, org_name)
    team = await tenancy.create_team(ctx, org, team_name)
    draft = PersonDraft(username=username, role=Role.OWNER, org_role=OrgRole.OWNER)
    owner = await identity.create_person(ctx, org, team, draft)
    if not await tenancy.claim_instance(ctx, CompanyDraft(org.id, team.id, owner.id)):
        raise AlreadyBootstrapped("this instance was set up a moment ago")
    return await identity.read_account_of(ctx, owner.id)


async def seed_team(ctx: Context) -> tuple[int, int]:
    """Sample notes and documents for the caller's team, and how many of each; ones that are there already are left alone."""
    access.require(ctx, "notes:write")
    access.require(ctx, "files:write")
    absent = [sample for sample in NOTES if not (await notes.list_notes(ctx, "team", sample[0], 1, None)).items]
    for title, body in absent:
        await notes.create_note(ctx, title, body, "team")
    unwritten = [sample for sample in DOCUMENTS if not await documents.exists_titled(ctx, sample[0])]
    for title, body in unwritten:
        await documents.create_document(ctx, title, body, "team")
    return len(absent), len(unwritten)


async def read_config(op: Operation) -> Config:
    """What anybody may know before signing in."""
    settings = op.services.settings
    async with op.begin_system() as ctx:
        instance = await tenancy.read_instance(ctx)
    return Config(settings.home.value, settings.multitenant, instance.founding is None, instance.localization)


async def set_locale_policy(
    op: Operation, default_locale: str, switching: bool, serve_machine: bool | None, if_match: str | None
) -> LocalePolicy:
    """Choose the language of everybody who has not chosen one; without switching it is everybody's."""
    async with op.begin_system() as ctx:
        before = await tenancy.read_instance(ctx, lock=True)
        if before.founding is None:
            raise NotBootstrapped("set the instance up first: POST /api/bootstrap")
        require_current(if_match, before.localization.etag())
        serve = before.localization.serve_machine if serve_machine is None else serve_machine
        after = LocalePolicy(default_locale, before.localization.locales, switching, serve)
        await tenancy.set_locale_policy(ctx, after)
        await audit.record(ctx, "instance.locale_set", default_locale, switching=switching, serve_machine=serve)
    return after


async def require_ready(op: Operation) -> None:
    """Refuse while this process is stopping or cannot reach its database."""
    if op.services.state.draining:
        raise NotReady("this process is stopping", retry_after=1)
    if not await op.services.database.is_reachable():
        raise NotReady("the database does not answer", retry_after=1)


async def read_status(op: Operation, tls: bool) -> Status:
    """The instance at a glance, without what the doctor looks at."""
    services = op.services
    async with op.begin_system() as ctx:
        tenants, people = await tenancy.count_all(ctx), await identity.count_all(ctx)
        counts = Counts(
            users=people["users"],
            teams=tenants["teams"],
            orgs=tenants["orgs"],
            notes=await notes.count_notes(ctx),
            tokens=people["tokens"],
            audit_events=await audit.count_events(ctx),
            tenants=tenants["orgs"],
        )
        schema = await store.read_schema_version(ctx.db)
    return Status(
        version=__version__,
        kdf=KDF,
        tls=tls,
        multitenant=services.settings.multitenant,
        secrets_at_rest="AES-256-GCM",
        schema_version=schema,
        counts=counts,
        failed_plugins=services.registry.failed_plugins,
        plans=[plan.name for plan in services.settings.plans],
        backup=await backups.read_age(services.settings),
    )


async def read_metrics(op: Operation) -> Metrics:
    """What this process counts, and what waits in the instance; the latter stays as it was while the database is away."""
    services, metrics = op.services, op.services.metrics
    for state, count in services.database.count_connections().items():
        metrics.connections.labels(state).set(count)
    if await services.database.is_reachable():
        backlog = await jobs.read_backlog(services.database)
        metrics.jobs_queued.set(backlog.queued)
        metrics.jobs_oldest.set(backlog.oldest_seconds)
        metrics.workers.set(backlog.workers)
        metrics.unsealed_oldest.set(await audit.read_oldest_unsealed(services.database))
        metrics.blobs_waiting.set(await release.count_waiting(services.database))
        metrics.executors_silent.set(sum(one.healthy is False for one in await executors.list_all(op)))
    return metrics


async def read_generation(database: Database) -> int:
    """Which generation of the instance this is: a restore begins another."""
    async with database.begin_system() as db:
        return await tenancy.read_generation(db)


async def require_same_key(database: Database, keys: Keyring) -> None:
    """Stop the start when this process could not read what the others sealed."""
    async with database.begin_system() as db:
        kept = await store.keep_key_check(db, keys.seal(_KEY_CHECK, _KEY_BINDING))
    _require_opens(keys, kept)


async def require_key(database: Database, keys: Keyring | None) -> None:
    """Refuse when something is sealed that these keys, or the lack of any, could not open; nothing is written."""
    async with database.begin_system() as db:
        kept = await store.find_key_check(db) if await store.has_key_check(db) else None
    if kept is not None:
        _require_opens(keys, kept)


def _require_opens(keys: Keyring | None, sealed: bytes) -> None:
    if keys is None:
        raise WrongKey(
            "the key this database's secrets were sealed with is not here: set SERVICE_SECRET_KEY,"
            " or put secret.key back into SERVICE_DATA_DIR"
        )
    try:
        keys.open(sealed, _KEY_BINDING)
    except Unsealable as error:
        raise WrongKey(
            "SERVICE_SECRET_KEY (or secret.key in SERVICE_DATA_DIR) is not the key this database's secrets were sealed with"
        ) from error


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal the constant that tells the right key from a wrong one, once everything else is sealed again."""
    async with database.begin_system() as db:
        await store.replace_key_check(db, keys.seal(_KEY_CHECK, _KEY_BINDING))
    return 0
