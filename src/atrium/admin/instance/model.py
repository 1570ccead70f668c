"""The nouns of the instance."""

from typing import Literal, get_args
from uuid import UUID

import msgspec

from atrium.ground.identity.model import OrgPlace, Person, Place
from atrium.kit.errors import Conflict, Forbidden, Unavailable

InstanceLocale = Literal["en", "es", "is", "nl"]
LOCALES: tuple[str, ...] = get_args(InstanceLocale)


class Health(msgspec.Struct, frozen=True):
    """Alive, and what kind of instance."""

    ok: bool
    multitenant: bool


class Ready(msgspec.Struct, frozen=True):
    """Able to answer."""

    ready: bool


class LocalePolicy(msgspec.Struct, frozen=True):
    """Which languages there are, and whether people may switch."""

    default_locale: str
    locales: list[str]
    switching: bool


class Config(msgspec.Struct, frozen=True):
    """What anybody may know before signing in."""

    home: str
    multitenant: bool
    needs_bootstrap: bool
    localization: LocalePolicy


class Founded(msgspec.Struct, frozen=True):
    """The operator's session and what was created with it."""

    token: str
    user: Person
    org: OrgPlace
    team: Place


class Instance(msgspec.Struct, frozen=True):
    """The instance's own row."""

    org_id: UUID
    team_id: UUID
    operator_id: UUID
    default_locale: str | None
    locale_switching: bool


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How much the instance carries."""

    users: int
    teams: int
    orgs: int
    notes: int
    tokens: int
    audit_events: int
    tenants: int


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator looks at first."""

    version: str
    kdf: str
    tls: bool
    multitenant: bool
    secrets_at_rest: str
    schema_version: int
    counts: Counts
    failed_plugins: dict[str, str]


class NotBootstrapped(Conflict):
    """There is no instance to set anything on."""

    code = "instance.not_bootstrapped"
    title = "Not set up yet"


class AlreadyBootstrapped(Conflict):
    """The instance has its operator."""

    code = "instance.bootstrapped"
    title = "This instance is set up already"


class ProvisionedElsewhere(Forbidden):
    """In hosted mode nobody bootstraps: the host provisions."""

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
