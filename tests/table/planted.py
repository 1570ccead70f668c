"""Rows that exist in tests only: three as they should be, the others each with one thing wrong."""

import sys

import msgspec

from atrium.boot.wiring import DOMAINS
from atrium.ground.access import service as access
from atrium.routes import ROUTES
from atrium.seams.context import Context, Operation
from atrium.seams.routes import ANY, BEARER, GET, ORG_ADMIN, POST, RESOURCE, SUPERADMIN, section
from atrium.seams.wiring import Domain
from tests.table.specimens import EXAMPLES, MAKERS, Maker, Place, Specimens


class Said(msgspec.Struct, frozen=True):
    """Something."""

    text: str


# What the leaking row hands out to anybody who knows its name.
LEAKS: dict[str, str] = {}


async def read_chat(ctx: Context) -> Said:
    """Behind a feature."""
    return Said("chat")


async def act_as_operator(op: Operation) -> Said:
    """On the operators' plane."""
    return Said("operators")


async def act_in_company(ctx: Context) -> Said:
    """On the company's plane."""
    return Said("company")


async def leak_thing(ctx: Context, name: str) -> Said:
    """Asks nobody whose thing it is."""
    return Said(LEAKS.get(name, "nothing"))


async def leak_listing(ctx: Context) -> Said:
    """Lists everybody's things."""
    return Said(" ".join(LEAKS.values()))


async def nod_through(ctx: Context) -> Said:
    """Notes its permission as checked without looking at the role."""
    access.note_checked(ctx, "settings:manage")
    return Said("come in")


async def act_on_unmade(ctx: Context, id: str) -> Said:
    """Takes an id that nothing makes."""
    return Said(id)


async def say_unexampled(ctx: Context, body: Said) -> Said:
    """Takes a body that nobody gave an example of."""
    return body


GOOD = section("Planted",
    GET( "/api/planted/chat",          "planted.read_chat",       BEARER, "chat:use", feature="chat"),
    GET( "/api/planted/operators",     "planted.act_as_operator", SUPERADMIN, "instance:manage"),
    POST("/api/planted/company",       "planted.act_in_company",  ORG_ADMIN, "org:manage"),
)  # fmt: skip
BAD = section("Planted",
    GET( "/api/planted/leaks/:name",   "planted.leak_thing",      BEARER, accepts=ANY),
    GET( "/api/planted/leaks",         "planted.leak_listing",    BEARER, accepts=ANY),
    POST("/api/planted/nods",          "planted.nod_through",     BEARER, "settings:manage", RESOURCE),
    POST("/api/planted/unmade/:id",    "planted.act_on_unmade",   BEARER, accepts=ANY),
    POST("/api/planted/unexampled",    "planted.say_unexampled",  BEARER, accepts=ANY),
)  # fmt: skip
PLANTED_ROUTES = (*ROUTES, *GOOD, *BAD)
PLANTED_DOMAINS = (*DOMAINS, Domain("planted", sys.modules[__name__]))


def _leak() -> Maker:
    async def make(place: Place) -> str:
        LEAKS[place.canary.removeprefix("canary-")] = place.canary
        return place.canary.removeprefix("canary-")

    return make


PLANTED_SPECIMENS = Specimens({**MAKERS, "/api/planted/leaks/:name": _leak()}, EXAMPLES)
