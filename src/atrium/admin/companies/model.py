"""The nouns of the two planes, and the plans."""

from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

import msgspec

from atrium.ground.access.model import OrgRole
from atrium.ground.identity.model import Member, Person, Place
from atrium.ground.quotas.model import Limit, Usage
from atrium.kit.errors import Forbidden

Plan = Literal["free", "team", "business", "unlimited"]
PLANS: tuple[str, ...] = get_args(Plan)
# A plan is a named set of caps on the whole company: (dimension, window) → most.
CAPS: dict[str, dict[tuple[str, str], int]] = {
    "free": {
        ("ai.requests", "day"): 200,
        ("ai.tokens.total", "month"): 200_000,
        ("ai.concurrency", "total"): 2,
        ("storage.bytes", "total"): 1_000_000_000,
        ("jobs.concurrency", "total"): 4,
    },
    "team": {
        ("ai.requests", "day"): 5_000,
        ("ai.tokens.total", "month"): 10_000_000,
        ("ai.concurrency", "total"): 10,
        ("storage.bytes", "total"): 100_000_000_000,
        ("jobs.concurrency", "total"): 32,
    },
    "business": {
        ("ai.requests", "day"): 100_000,
        ("ai.tokens.total", "month"): 200_000_000,
        ("ai.concurrency", "total"): 50,
        ("storage.bytes", "total"): 2_000_000_000_000,
        ("jobs.concurrency", "total"): 128,
    },
    "unlimited": {},
}


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


class RoleChange(msgspec.Struct, frozen=True):
    """A person's role in the company after the change."""

    id: UUID
    org_role: OrgRole | None


class OwnRole(Forbidden):
    """Nobody changes their own role in the company."""

    code = "companies.own_role"
    title = "Your own role"


class OwnersOnly(Forbidden):
    """Only an org_owner may name or remove an org_owner."""

    code = "companies.owners_only"
    title = "For company owners"


class DemoOff(Forbidden):
    """Demo companies have known passwords, so they need a switch."""

    code = "companies.demo_off"
    title = "Demo data is off"
