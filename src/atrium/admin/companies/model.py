"""The nouns of the two planes."""

from datetime import datetime
from uuid import UUID

import msgspec

from atrium.ground.access.model import OrgRole
from atrium.ground.identity.model import Member, Person, Place
from atrium.ground.quotas.model import Limit, Usage
from atrium.kit.errors import Forbidden, Invalid
from atrium.kit.web.etags import etag_of


class DomainProof(msgspec.Struct, frozen=True):
    """The TXT record that proves control of a hostname."""

    name: str
    value: str


class Company(msgspec.Struct, frozen=True, kw_only=True):
    """A company as operators list it; `proof` is what to publish while its hostname waits."""

    id: UUID
    slug: str
    name: str
    plan: str
    domain: str | None
    domain_verified: bool
    proof: DomainProof | None
    suspended: bool
    suspended_at: datetime | None
    created_at: datetime


class CompanyPage(Company, frozen=True, kw_only=True):
    """A company with its teams, its limits, and what it has used of them."""

    teams: list[Place]
    quotas: list[Limit]
    usage: list[Usage]

    def etag(self) -> str:
        """Differs whenever anything of it does, also what the company uses."""
        return etag_of(self)


class CompanyRecord(CompanyPage, frozen=True, kw_only=True):
    """A company as operators change it."""

    def etag(self) -> str:
        """Of what operators change, not of what the company uses: that changes all the time."""
        return etag_of(self.id, self.name, self.plan, self.domain, self.domain_verified, self.suspended, self.quotas)


class ChangedCompany(CompanyRecord, frozen=True, kw_only=True):
    """A company after a change; `kept_limits` were set by hand, so that a new plan left them as they are."""

    kept_limits: list[Limit]


class FoundedCompany(msgspec.Struct, frozen=True):
    """A new company, its first team and its owner; `token` is the owner's first, when no password was given."""

    org: Company
    team: Place
    owner: Person
    token: str | None = None
    expires_at: datetime | None = None


class AddedPerson(msgspec.Struct, frozen=True):
    """A person and their first token, shown once."""

    member: Member
    team: Place
    token: str
    expires_at: datetime | None


class ChangedOrgRole(msgspec.Struct, frozen=True):
    """A person's role in the company after the change."""

    id: UUID
    org_role: OrgRole | None
    revision: str

    def etag(self) -> str:
        """The member's own."""
        return f'"{self.revision}"'


class OwnRole(Forbidden):
    """A person cannot change their own role in the company."""

    code = "companies.own_role"
    title = "Your own role"


class DemoOff(Forbidden):
    """Demo companies have known passwords, so they need a switch."""

    code = "companies.demo_off"
    title = "Demo data is off"


class UnknownPlan(Invalid):
    """The settings have no plan of this name."""

    code = "companies.unknown_plan"
    title = "No such plan"
