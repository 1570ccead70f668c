"""The wire of the instance."""

import msgspec

from atrium.admin.instance import doctor, service
from atrium.admin.instance.model import Config, FirstCompany, Health, Ready, Status
from atrium.ground.identity.model import NewPassword, Username
from atrium.ground.tenancy.model import LocaleName, LocalePolicy, Name
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Accept, Authorization, Content, Created, IfMatch, SignedIn


async def read_health(op: Operation) -> Health:
    """Whether the process is alive."""
    return Health(True, op.services.settings.multitenant)


async def read_readiness(op: Operation) -> Ready:
    """Whether the process can answer requests now."""
    await service.require_ready(op)
    return Ready(True)


async def read_config(op: Operation) -> Config:
    """Public configuration of the instance."""
    return await service.read_config(op)


class LocaleChange(msgspec.Struct, forbid_unknown_fields=True):
    """The language of people who have not chosen one, whether they may choose, and whether drafts by a machine are shown."""

    __example__ = {"default_locale": "en", "switching": True}

    default_locale: LocaleName
    switching: bool
    serve_machine: bool | None = None


async def set_locale_policy(op: Operation, body: LocaleChange, *, if_match: IfMatch | None = None) -> LocalePolicy:
    """Set the instance's default language and whether people may switch; without `serve_machine` that stays as it is."""
    return await service.set_locale_policy(op, body.default_locale, body.switching, body.serve_machine, if_match)


async def serve_openapi(op: Operation) -> Content:
    """This interface as an OpenAPI 3.1 document."""
    return Content(op.services.registry.openapi, "application/json")


async def serve_reference(op: Operation) -> Content:
    """This interface as a page for people."""
    return Content(op.services.registry.reference, "text/html; charset=utf-8", op.services.registry.reference_policy)


class FirstRun(msgspec.Struct, forbid_unknown_fields=True):
    """The operator to be, and the names of the first company and team."""

    username: Username
    password: NewPassword
    org: Name
    team: Name


async def bootstrap_instance(
    op: Operation, body: FirstRun, *, authorization: Authorization | None = None
) -> Created[SignedIn[FirstCompany]]:
    """First run only: create the operator, the first company and its team; returns the operator's token."""
    token = authorization.partition(" ")[2] if authorization else None
    founded = await service.bootstrap(op, body.username, body.password, body.org, body.team, token)
    return Created(SignedIn(founded))


async def read_status(op: Operation, *, checks: bool = False) -> Status:
    """Version, security state and counts; with `checks` also what `atrium doctor` looks at."""
    return await doctor.read_status(op, op.secure, checks)


class Seeded(msgspec.Struct, frozen=True):
    """How much was made."""

    notes: int
    documents: int


async def seed_team(ctx: Context) -> Created[Seeded]:
    """Seed sample notes and documents into the caller's team; safe to repeat."""
    return Created(Seeded(*await service.seed_team(ctx)))


async def read_metrics(op: Operation, *, accept: Accept | None = None) -> Content:
    """Operational metrics of this process: Prometheus text, or JSON when asked for."""
    metrics = await service.read_metrics(op)
    if accept is not None and "application/json" in accept:
        return Content(msgspec.json.encode(metrics.as_json()), "application/json")
    return Content(metrics.as_text(), "text/plain; version=0.0.4; charset=utf-8")
