"""Companies and people, made straight in the database so that a test starts where it wants to start."""

import secrets
from dataclasses import dataclass, field
from uuid import UUID

import msgspec

from atrium.boot.assemble import Application
from atrium.engine.executors import service as executors
from atrium.engine.executors.model import ExecutorSpec
from atrium.ground.access.model import OrgRole
from atrium.ground.identity import service as identity
from atrium.ground.identity import sessions
from atrium.ground.identity.credential_model import TokenTerms
from atrium.ground.identity.model import PersonDraft
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import Org, Team
from atrium.seams.context import ANONYMOUS, Operation
from tests.postgres import run_as_owner
from tests.support.client import Client


@dataclass(slots=True)
class Company:
    """A company with its first team, and a way to put people into it."""

    house: Application
    org: Org
    team: Team
    teams: list[Team] = field(default_factory=list)
    workers: dict[bool, Client] = field(default_factory=dict)

    async def join(
        self,
        role: str = "member",
        *,
        team: Team | None = None,
        org_role: str | None = None,
        operator: bool = False,
        password: str | None = None,
        scope: list[str] | None = None,
    ) -> Client:
        """A signed-in person; a scope gives them an API token instead of a session."""
        team = team or self.team
        username = f"{role}-{secrets.token_hex(6)}"
        hashed = await self.house.services.passwords.hash(password) if password else None
        async with _system(self.house).begin_system() as ctx:
            held = OrgRole(org_role) if org_role else None
            draft = PersonDraft(username=username, role=role, org_role=held, operator=operator, password_hash=hashed)
            member = await identity.create_person(ctx, self.org, team, draft)
            issued = await sessions.open_session(ctx, member.id, team.id, self.org.id)
            if scope is not None:
                issued = await sessions.issue(
                    ctx, member.id, team.id, self.org.id, TokenTerms(kind="token", scope=scope)
                )
        return Client(self.house.app, issued.token, str(member.id), str(team.id), str(self.org.id), username)

    async def employ(self, *, bound: bool = True) -> Client:
        """A worker: the credential of a pull executor of this company, or (not `bound`) of the instance."""
        who = msgspec.structs.replace(ANONYMOUS, org_id=self.org.id, team_id=self.team.id, operator=True)
        op = Operation(who=who, services=self.house.services)
        name, serves = f"worker {secrets.token_hex(6)}", self.org.id if bound else None
        made = await executors.create_executor(op, ExecutorSpec(name, "pull"), serves)
        return Client(self.house.app, made.worker_token, org_id=str(self.org.id), username=name)

    async def worker(self, *, bound: bool = True) -> Client:
        """The worker that all who need no other one share: a company has at most a hundred."""
        if bound not in self.workers:
            self.workers[bound] = await self.employ(bound=bound)
        return self.workers[bound]

    async def add_team(self, name: str = "Another team") -> Team:
        async with _system(self.house).begin_system() as ctx:
            return await tenancy.create_team(ctx, self.org, name)

    async def suspend(self, suspended: bool = True) -> None:
        await run_as_owner(
            self.house.services.settings.database_url,
            "UPDATE orgs SET suspended_at = CASE WHEN $2 THEN now() END WHERE id = $1",
            self.org.id,
            suspended,
        )


async def found_company(house: Application, name: str = "") -> Company:
    """A company nobody else in the test run knows."""
    async with _system(house).begin_system() as ctx:
        org = await tenancy.create_org(ctx, name or f"Company {secrets.token_hex(6)}")
        team = await tenancy.create_team(ctx, org, "First team")
    return Company(house, org, team)


def _system(house: Application) -> Operation:
    return Operation(who=ANONYMOUS, services=house.services)


def uuid_of(client: Client) -> UUID:
    """The person's id."""
    return UUID(client.user_id)
