"""The nouns of tenancy."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Invalid, Missing

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"\S")]
Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,63}$(?!\n)")]


class Org(msgspec.Struct, frozen=True):
    """A company."""

    id: UUID
    slug: str
    name: str
    plan: str
    domain: str | None
    domain_proof: str | None
    domain_verified: bool
    suspended_at: datetime | None
    created_at: datetime


class Team(msgspec.Struct, frozen=True):
    """A team of a company."""

    id: UUID
    org_id: UUID
    name: str
    created_at: datetime


class SlugTaken(Conflict):
    """Another company has this slug."""

    code = "tenancy.slug_taken"
    title = "This slug is taken"


class DomainTaken(Conflict):
    """Another company has this hostname."""

    code = "tenancy.domain_taken"
    title = "This hostname is taken"


class BadDomain(Invalid):
    """Not a hostname that people could type."""

    code = "tenancy.bad_domain"
    title = "Not a hostname"


class OrgMissing(Missing):
    """No company has this id or slug."""

    code = "tenancy.org_missing"
    title = "No such company"


class TeamMissing(Missing):
    """No such team in this company."""

    code = "tenancy.team_missing"
    title = "No such team"
