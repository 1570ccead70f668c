"""The verbs of tenancy."""

import hashlib
from typing import Literal
from uuid import UUID

from atrium.ground.tenancy import domains, store
from atrium.ground.tenancy.locales import list_locales
from atrium.ground.tenancy.model import (
    CompanyDraft,
    DomainTaken,
    Instance,
    LocalePolicy,
    LocaleUnknown,
    Org,
    OrgMissing,
    SingleCompany,
    SlugTaken,
    Team,
    TeamMissing,
)
from atrium.kit.errors import Missing
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.text.plain import contains_pattern, slug_of
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context

DEFAULT_PLAN = "unlimited"


async def read_instance(ctx: Context, *, lock: bool = False) -> Instance:
    """The instance's own facts, its language resolved from what an operator chose and what the settings say."""
    row = await store.find_instance(ctx.db, lock=lock)
    default = (row and row.default_locale) or ctx.services.settings.default_locale
    locales = list_locales(ctx.services.settings, row.locales if row else ())
    return Instance(
        CompanyDraft(row.org_id, row.team_id, row.operator_id) if row else None,
        LocalePolicy(default, locales, row is None or row.switching, row is not None and row.serve_machine),
    )


async def claim_instance(ctx: Context, founding: CompanyDraft) -> bool:
    """Whether this first run is the one that counts: true for exactly one caller ever."""
    return await store.claim_instance(ctx.db, founding)


async def set_locale_policy(ctx: Context, policy: LocalePolicy) -> None:
    """Choose the language of everybody who has not chosen one; without switching it is everybody's."""
    require_locale(policy, policy.default_locale, "default_locale")
    await store.set_locale_policy(ctx.db, policy.default_locale, policy.switching, policy.serve_machine)


def require_locale(policy: LocalePolicy, locale: str, path: str) -> None:
    """Refuse a language that the instance does not have."""
    if locale not in policy.locales:
        known = ", ".join(policy.locales)
        raise LocaleUnknown(f"{path}: choose one of {known}", errors=[{"path": path, "message": f"one of {known}"}])


async def suspend_instance(ctx: Context, suspended: bool) -> None:
    """Stop or allow writing by everybody on the instance, from the next request on."""
    await store.suspend_instance(ctx.db, suspended)


async def require_capacity(ctx: Context) -> None:
    """Refuse another company where the instance carries one; only a system transaction sees whether there is one."""
    if not ctx.services.settings.multitenant and await store.count_orgs(ctx.db):
        raise SingleCompany("this server carries one company; start it with SERVICE_MULTITENANT=1 to add others")


async def create_org(
    ctx: Context, name: str, slug: str | None = None, plan: str = DEFAULT_PLAN, *, id: UUID | None = None
) -> Org:
    """Found a company; an explicit slug that exists is refused, a derived one is made unique."""
    id = id or new_id()
    wanted = slug or slug_of(name)
    org = await store.insert_org(ctx.db, id, wanted, name, plan)
    if org is None and slug is None:
        org = await store.insert_org(ctx.db, id, f"{wanted[:50]}-{id.hex[-12:]}", name, plan)
    if org is None:
        raise SlugTaken(f"a company with the slug {slug} exists already", slug=slug)
    return org


async def create_team(ctx: Context, org: Org, name: str) -> Team:
    """Add a team to a company."""
    team = await store.insert_team(ctx.db, new_id(), org.id, name)
    assert team is not None  # noqa: S101 - INSERT … RETURNING without a conflict clause always returns
    return team


async def lock_org(ctx: Context, org: Org) -> None:
    """One change of a company at a time, until this transaction ends."""
    await store.lock_org(ctx.db, org.id)


async def read_own(ctx: Context) -> tuple[Org, Team]:
    """The caller's company and team."""
    org = await store.find_org(ctx.db, ctx.who.org_id)
    team = await store.find_team(ctx.db, ctx.who.org_id, ctx.who.team_id)
    if org is None or team is None:
        raise Missing("this company or team is gone")
    return org, team


async def read_org(ctx: Context, ref: str) -> Org:
    """A company by id or slug; only a system transaction sees more than the caller's own."""
    try:
        org = await store.find_org(ctx.db, UUID(ref))
    except ValueError:
        org = await store.find_org_by_slug(ctx.db, ref)
    if org is None:
        raise OrgMissing(f"there is no company {ref}")
    return org


async def exists_org(ctx: Context, id: UUID) -> bool:
    """Whether there is a company of this id; only a system transaction sees more than the caller's own."""
    return await store.find_org(ctx.db, id) is not None


async def find_org(ctx: Context, slug: str) -> Org | None:
    """The company with exactly this slug; only a system transaction sees more than the caller's own."""
    return await store.find_org_by_slug(ctx.db, slug)


async def list_orgs(ctx: Context, search: str | None, limit: int, cursor: str | None) -> Page[Org]:
    """Every company, in the order they were founded."""
    pager = Pager(ctx.services.keys, "orgs", ctx.who.user_id, search)
    pattern = search and contains_pattern(search)
    found = await store.list_orgs(ctx.db, pager.read(cursor, UUID), pattern, limit + 1)
    return pager.page(found, limit, lambda org: org.id)


async def list_names(ctx: Context, ids: list[UUID]) -> dict[UUID, str]:
    """The names of companies by id; only a system transaction sees more than the caller's own."""
    return await store.list_org_names(ctx.db, ids) if ids else {}


async def rename_org(ctx: Context, org: Org, name: str) -> None:
    """Give a company another name; its slug stays."""
    await store.rename_org(ctx.db, org.id, name)


async def set_plan(ctx: Context, org: Org, plan: str) -> None:
    """Record the plan; the caller applies its caps."""
    await store.set_plan(ctx.db, org.id, plan)


async def set_domain(ctx: Context, org: Org, domain: str | None, *, verified: bool, proof: str | None) -> None:
    """Give a company a hostname, proven or waiting for its proof; None takes it away."""
    if not await store.set_domain(ctx.db, org.id, domain, proof, verified):
        raise DomainTaken(f"{domain} belongs to another company", domain=domain)


async def set_suspended(ctx: Context, org: Org, suspended: bool) -> None:
    """Stop or allow writing by everybody in the company, from the next request on."""
    await store.set_suspended(ctx.db, org.id, suspended)


async def read_team(ctx: Context, org_id: UUID, id: UUID) -> Team:
    """A team of a company."""
    team = await store.find_team(ctx.db, org_id, id)
    if team is None:
        raise TeamMissing("there is no such team in this company")
    return team


async def list_teams(ctx: Context, org_id: UUID, limit: int, cursor: str | None) -> Page[Team]:
    """A company's teams, in the order they were made."""
    pager = Pager(ctx.services.keys, "teams", org_id)
    found = await store.list_teams(ctx.db, org_id, pager.read(cursor, UUID), limit + 1)
    return pager.page(found, limit, lambda team: team.id)


async def is_company_host(database: Database, host: str | None) -> bool:
    """Whether this Host header names a company's own hostname."""
    name = domains.host_of(host)
    if not name:
        return False
    async with database.begin_system() as db:
        return await store.find_org_by_domain(db, name) is not None


def moved_digest(kind: Literal["token", "s3", "host"], value: bytes) -> bytes:
    """How something that a company's people present is remembered after the company has moved."""
    return hashlib.sha256(b"atrium moved " + kind.encode() + b" " + value).digest()


async def find_moved(database: Database, digests: list[bytes]) -> str | None:
    """Where a company went that one of these belonged to; None when there is no such company."""
    async with database.begin_system() as db:
        return await store.find_moved(db, digests)


async def count_all(ctx: Context) -> dict[str, int]:
    """How many companies and teams the instance carries; only a system transaction sees them all."""
    return {"orgs": await store.count_orgs(ctx.db), "teams": await store.count_teams(ctx.db)}


async def read_generation(db: Transaction) -> int:
    """The number that the last restore gave the instance; 0 when there was none."""
    return await store.read_generation(db)


async def list_all_ids(db: Transaction) -> list[UUID]:
    """The id of every company, for what works through all of them; only a system transaction sees more than one."""
    return await store.list_org_ids(db)
