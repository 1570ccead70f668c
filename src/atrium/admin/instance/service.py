"""The verbs of the instance."""

import hmac

from atrium import __version__
from atrium.admin.instance import store
from atrium.admin.instance.model import (
    LOCALES,
    AlreadyBootstrapped,
    BootstrapTokenRequired,
    Config,
    Counts,
    Founded,
    LocalePolicy,
    NotBootstrapped,
    NotReady,
    ProvisionedElsewhere,
    Status,
)
from atrium.admin.instance.samples import SAMPLES
from atrium.engine.executors import service as executors
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import Account, OrgPlace, Person, Place
from atrium.ground.tenancy import service as tenancy
from atrium.kit.database import Database
from atrium.kit.keys import Keyring, Unsealable
from atrium.kit.passwords import KDF
from atrium.product.notes import service as notes
from atrium.product.s3 import service as s3
from atrium.seams.context import Context, Operation, Principal

_KEY_CHECK, _KEY_PLACE = b"atrium", "instance|key_check"


class WrongKey(SystemExit):
    """SERVICE_SECRET_KEY is not the key this database was sealed with."""


async def bootstrap(
    op: Operation, username: str, password: str, org_name: str, team_name: str, token: str | None
) -> Founded:
    """Create the operator, the first company and its team: once, however many try at the same moment."""
    if op.services.settings.hosted:
        raise ProvisionedElsewhere("this instance is in hosted mode: its host provisions the owner")
    guard = op.services.settings.bootstrap_token
    if guard and not hmac.compare_digest(guard.encode(), (token or "").encode()):
        raise BootstrapTokenRequired("this instance is guarded: send SERVICE_BOOTSTRAP_TOKEN as the bearer credential")
    async with op.begin_system() as ctx:
        if await store.find_instance(ctx.db):
            raise AlreadyBootstrapped("this instance has its operator; sign in instead")
    identity.require_strong(password, username)
    hashed = await op.services.passwords.hash(password)
    async with op.begin_system() as ctx:
        return await _found(ctx, username, hashed, org_name, team_name)


async def _found(ctx: Context, username: str, hashed: str, org_name: str, team_name: str) -> Founded:
    org = await tenancy.create_org(ctx, org_name)
    team = await tenancy.create_team(ctx, org, team_name)
    operator = await identity.create_person(
        ctx, org, team, username, Role.OWNER, org_role=OrgRole.OWNER, operator=True, password_hash=hashed
    )
    if not await store.claim_instance(ctx.db, org.id, team.id, operator.id):
        raise AlreadyBootstrapped("somebody else set this instance up a moment ago; sign in instead")
    issued = await identity.open_session(ctx, operator.id, team.id, org.id)
    who = Principal(
        user_id=operator.id, team_id=team.id, org_id=org.id, username=username, role=Role.OWNER, permissions=frozenset()
    )
    await audit.record(ctx.acting_as(who), "instance.bootstrapped", org.id, username=username)
    return Founded(
        issued.token,
        Person(operator.id, username, operator.display_name),
        OrgPlace(org.id, org.name, org.slug),
        Place(team.id, team.name),
    )


async def found_tenant(ctx: Context, username: str, org_name: str, team_name: str) -> Account:
    """The one tenant of a hosted instance: its owner runs the company, the host runs the instance."""
    org = await tenancy.create_org(ctx, org_name)
    team = await tenancy.create_team(ctx, org, team_name)
    owner = await identity.create_person(ctx, org, team, username, Role.OWNER, org_role=OrgRole.OWNER)
    if not await store.claim_instance(ctx.db, org.id, team.id, owner.id):
        raise AlreadyBootstrapped("somebody else set this instance up a moment ago")
    return await identity.read_account_of(ctx, owner.id)


async def seed_team(ctx: Context) -> int:
    """Sample notes for the caller's team; ones that are there already are left alone."""
    made = 0
    for title, body in SAMPLES:
        found = await notes.list_notes(ctx, "team", title, 1, None)
        if not found.items:
            await notes.create_note(ctx, title, body, "team")
            made += 1
    return made


async def read_config(op: Operation) -> Config:
    """What anybody may know before signing in."""
    settings = op.services.settings
    async with op.begin_system() as ctx:
        instance = await store.find_instance(ctx.db)
    policy = LocalePolicy(
        (instance and instance.default_locale) or settings.default_locale,
        list(LOCALES),
        instance is None or instance.locale_switching,
    )
    return Config(settings.home.value, settings.multitenant, instance is None, policy)


async def set_locale_policy(op: Operation, default_locale: str, switching: bool) -> LocalePolicy:
    """Choose the language of everybody who has not chosen one; without switching it is everybody's."""
    async with op.begin_system() as ctx:
        if not await store.set_locale_policy(ctx.db, default_locale, switching):
            raise NotBootstrapped("set the instance up first: POST /api/bootstrap")
        await audit.record(ctx, "instance.locale_set", default_locale, switching=switching)
    return LocalePolicy(default_locale, list(LOCALES), switching)


async def require_ready(op: Operation) -> None:
    """Refuse while this process is stopping or cannot reach its database."""
    if op.services.state.draining:
        raise NotReady("this process is stopping", retry_after=1)
    if not await op.services.database.is_reachable():
        raise NotReady("the database does not answer", retry_after=1)


async def read_status(op: Operation, tls: bool) -> Status:
    """The instance at a glance."""
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
    )


async def require_same_key(database: Database, keys: Keyring) -> None:
    """Stop the start when this process could not read what the others sealed."""
    async with database.begin_system() as db:
        kept = await store.keep_key_check(db, keys.seal(_KEY_CHECK, _KEY_PLACE))
    try:
        keys.open(kept, _KEY_PLACE)
    except Unsealable as error:
        raise WrongKey(
            "SERVICE_SECRET_KEY (or secret.key in SERVICE_DATA_DIR) is not the key this database's secrets were sealed with"
        ) from error


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal everything again under the newest key, so that older ones can be dropped from SERVICE_SECRET_KEY."""
    changed = await identity.reseal(database, keys) + await s3.reseal(database, keys)
    changed += await executors.reseal(database, keys)
    async with database.begin_system() as db:
        await store.replace_key_check(db, keys.seal(_KEY_CHECK, _KEY_PLACE))
    return changed
