"""Where probes are played: two companies, the people who may and may not, and credentials that no longer count."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.edge.endpoint import Endpoint
from atrium.ground.access.model import permissions_of
from atrium.ground.identity import sessions
from atrium.ground.identity.credential_model import TokenTerms
from atrium.ground.tenancy.model import Team
from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.seams.context import ANONYMOUS, Operation
from atrium.seams.routes import Auth, Route
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.table.rows import name_of
from tests.table.specimens import Place, Specimens, Unregistered

Person = Mapping[str, Any]
OPERATOR: Person = {"role": "owner", "org_role": "org_owner", "operator": True}
# No person: the credential of a pull executor.
WORKER: Person = {"worker": True}
# Who is asked to succeed, plainest first; who is expected to be refused, mightiest first: the sharpest of each.
RIGHTFUL: tuple[Person, ...] = (
    {"role": "owner"},
    {"role": "owner", "org_role": "org_owner"},
    OPERATOR,
    WORKER,
)
WEAKER: tuple[Person, ...] = (
    OPERATOR, {"role": "owner", "org_role": "org_owner"}, {"role": "owner", "org_role": "org_reader"}, {"role": "owner"},
    {"role": "member"}, {"role": "viewer"}, WORKER,
)  # fmt: skip


def permissions(person: Person) -> frozenset[str]:
    if person is WORKER:
        return frozenset({"jobs:execute"})
    return permissions_of(person["role"], person.get("org_role"), person.get("operator", False), None)


def is_on_plane(route: Route, person: Person) -> bool:
    return {
        Auth.BEARER: True, Auth.ORG_ADMIN: "org_role" in person, Auth.SUPERADMIN: "operator" in person,
    }.get(route.auth, False)  # fmt: skip


def rightful(endpoint: Endpoint) -> Person:
    """The plainest person whom the row lets in."""
    route = endpoint.route
    for person in RIGHTFUL:
        if is_on_plane(route, person) and (route.permission is None or route.permission in permissions(person)):
            return person
    raise Unregistered(f"RIGHTFUL has nobody whom {name_of(endpoint)} ({route.auth.name}) lets in")


def weaker(permission: str) -> Person:
    """The mightiest person who lacks the permission."""
    return next(person for person in WEAKER if permission not in permissions(person))


async def somebody(company: Company, team: Team, person: Person) -> Client:
    """A person in a team, or a worker of the company."""
    return await (company.employ() if person is WORKER else company.join(team=team, **person))


@dataclass(frozen=True, slots=True)
class Stage:
    """One house, our company with two teams, and theirs."""

    house: Application
    specimens: Specimens
    ours: Company
    elsewhere: Team
    theirs: Company
    bad_credentials: Mapping[str, str]

    async def place(self, endpoint: Endpoint, company: Company | None = None, team: Team | None = None) -> Place:
        """The row's rightful caller in a team of a company, ours and its first unless told."""
        company = company or self.ours
        team = team or company.team
        return Place(company, team, await somebody(company, team, rightful(endpoint)))

    async def token_of(self, person: Client, scope: Collection[str] | None) -> Client:
        """The same person with an API token of this scope, or with one that has none; a worker has none, so it is an operator's."""
        if not person.user_id:
            person = await self.ours.join(**OPERATOR)
        op = Operation(who=ANONYMOUS, services=self.house.services)
        async with op.begin_system() as ctx:
            issued = await sessions.issue(
                ctx,
                UUID(person.user_id),
                UUID(person.team_id),
                UUID(person.org_id),
                TokenTerms(kind="token", scope=None if scope is None else sorted(scope)),
            )
        return replace(person, token=issued.token)

    async def browser_of(self, person: Client) -> Client:
        """The same person signed in with a browser, which keeps the session in a cookie."""
        op = Operation(who=ANONYMOUS, services=self.house.services, wants_cookie=True)
        async with op.begin_system() as ctx:
            issued = await sessions.open_session(ctx, UUID(person.user_id), UUID(person.team_id), UUID(person.org_id))
        return replace(person, token=None, cookie=f"atrium_session={issued.token}")

    async def company(self) -> Company:
        return await found_company(self.house)


async def set_stage(house: Application, specimens: Specimens) -> Stage:
    ours, theirs = await found_company(house), await found_company(house)
    return Stage(house, specimens, ours, await ours.add_team(), theirs, await _bad_credentials(ours))


async def _bad_credentials(company: Company) -> dict[str, str]:
    """Authorization headers that must open nothing, though each but two once belonged to an operator."""
    lapsed = {
        "expired": "UPDATE tokens SET expires_at = now() - interval '1 second' WHERE digest = $1",
        "left idle": "UPDATE tokens SET last_used_at = now() - idle_limit - interval '1 second' WHERE digest = $1",
        "revoked": "DELETE FROM tokens WHERE digest = $1",
    }
    found = {"malformed": "Bearer not-a-token", "unknown": f"Bearer {new_token('session')}"}
    for kind, sql in lapsed.items():
        found[kind] = f"Bearer {await _spoilt(company, sql)}"
    good = await company.join(**OPERATOR)
    return {**found, "of another scheme": f"Basic {good.token}", "empty": "Bearer "}


async def _spoilt(company: Company, sql: str) -> str:
    client: Client = await company.join(**OPERATOR)
    assert (await client.get("/api/whoami")).status == 200
    token = client.token or ""
    await run_as_owner(company.house.services.settings.database_url, sql, digest_of(token.encode()))
    return token
