"""The nouns of the instance."""

from typing import Literal

import msgspec

from atrium.admin.backups.model import Age
from atrium.ground.identity.model import OrgPlace, Person, Place
from atrium.ground.tenancy.model import LocalePolicy
from atrium.kit.errors import Conflict, Forbidden, Unavailable


class Health(msgspec.Struct, frozen=True):
    """Alive, and what kind of instance."""

    ok: bool
    multitenant: bool


class Ready(msgspec.Struct, frozen=True):
    """Able to answer."""

    ready: bool


class Config(msgspec.Struct, frozen=True):
    """What anybody may know before signing in."""

    home: str
    multitenant: bool
    needs_bootstrap: bool
    localization: LocalePolicy

    def etag(self) -> str:
        """Of the one part that can be changed from outside: the locale policy."""
        return self.localization.etag()


class FirstCompany(msgspec.Struct, frozen=True):
    """The operator's session and what was created with it."""

    token: str | None
    user: Person
    org: OrgPlace
    team: Place


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How much the instance carries."""

    users: int
    teams: int
    orgs: int
    notes: int
    tokens: int
    audit_events: int
    tenants: int


Verdict = Literal["ok", "warn", "fail"]
CheckName = Literal[
    "settings", "address", "disk", "blobs", "plugins", "sandbox", "database", "postgres_version", "schema", "role", "walls", "key",
    "clock", "connections", "transactions", "statistics", "jobs", "workers", "executors", "models", "audit",
]  # fmt: skip


class HealthCheck(msgspec.Struct, frozen=True):
    """One thing the doctor looked at: what was found, and what to do about it unless all is well."""

    name: CheckName
    verdict: Verdict
    found: str
    remedy: str


class Checkup(msgspec.Struct, frozen=True):
    """Everything the doctor looked at."""

    checks: list[HealthCheck]


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator looks at first; `checks` are there when they were asked for."""

    version: str
    kdf: str
    tls: bool
    multitenant: bool
    secrets_at_rest: str
    schema_version: int
    counts: Counts
    failed_plugins: dict[str, str]
    plans: list[str]
    backup: Age | None
    checks: list[HealthCheck] | msgspec.UnsetType = msgspec.UNSET


class NotBootstrapped(Conflict):
    """There is no instance to set anything on."""

    code = "instance.not_bootstrapped"
    title = "Not set up yet"


class AlreadyBootstrapped(Conflict):
    """The instance has its operator."""

    code = "instance.bootstrapped"
    title = "This instance is set up already"


class ProvisionedElsewhere(Forbidden):
    """Hosted mode has no bootstrap; the host provisions the tenant."""

    code = "instance.hosted"
    title = "Set up by the host"


class BootstrapTokenRequired(Forbidden):
    """First run is guarded by SERVICE_BOOTSTRAP_TOKEN."""

    code = "instance.bootstrap_token"
    title = "Bootstrap token required"


class NotReady(Unavailable):
    """Starting, stopping, or without its database."""

    code = "instance.not_ready"
    title = "Not ready"
