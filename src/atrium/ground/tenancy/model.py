"""The nouns of tenancy."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Invalid, Missing
from atrium.kit.text.catalogs import LOCALE_PATTERN
from atrium.kit.web.etags import etag_of

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=r"\S")]
LocaleName = Annotated[
    str,
    msgspec.Meta(pattern=LOCALE_PATTERN, max_length=11, description="A language, such as `es`, `pt-BR` or `zh-Hant`."),
]
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


class CompanyDraft(msgspec.Struct, frozen=True):
    """What the first run made: the first company, its team, and who runs it."""

    org_id: UUID
    team_id: UUID
    operator_id: UUID


class LocalePolicy(msgspec.Struct, frozen=True):
    """Which languages there are, whether people may switch, and whether a machine's drafts are shown before a person approves them."""

    default_locale: str
    locales: list[str]
    switching: bool
    serve_machine: bool = False

    def etag(self) -> str:
        """Differs when an operator has chosen otherwise."""
        return etag_of(self.default_locale, self.switching, self.locales, self.serve_machine)


class Instance(msgspec.Struct, frozen=True):
    """The instance's own facts; without a `founding` until its first run."""

    founding: CompanyDraft | None
    localization: LocalePolicy


class InstanceRow(msgspec.Struct, frozen=True):
    """The row that the first run inserts."""

    org_id: UUID
    team_id: UUID
    operator_id: UUID
    default_locale: str | None
    switching: bool
    locales: list[str]
    serve_machine: bool


class LocaleUnknown(Invalid):
    """The instance has no such language."""

    code = "tenancy.locale_unknown"
    title = "No such language"


class SingleCompany(Conflict):
    """The instance is set to carry one company, and has it."""

    code = "tenancy.single"
    title = "One company here"


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
