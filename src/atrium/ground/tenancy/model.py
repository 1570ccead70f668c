"""The nouns of tenancy."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"\S")]
Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,63}$(?!\n)")]


class Org(msgspec.Struct, frozen=True):
    """A company."""

    id: UUID
    slug: str
    name: str
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
