"""The probes: what every row must refuse, shown on a request that its rightful caller then makes with success."""

from collections.abc import Awaitable, Callable, Collection
from uuid import UUID

from atrium.edge.endpoint import Endpoint
from atrium.kit.ids import new_id
from atrium.seams.routes import Auth, Decides
from tests.client import Answer, Client
from tests.contract.rows import parameters_of
from tests.contract.specimens import Ask, Place, made
from tests.contract.stage import Stage, permissions, rightful, weaker

Probe = Callable[[Stage, Endpoint], Awaitable[None]]
NO_PERMISSION = "access.permission_missing"
# A 404 that says nothing about the thing: the address or the id was malformed, so the probe would have missed its aim.
AIMLESS = frozenset({"request.no_route", "request.missing"})


class ProbeFailed(AssertionError):
    """Somebody was let in, or turned away for another reason than the one under probe."""


def refused(answer: Answer, status: int, codes: Collection[str]) -> None:
    if answer.status != status or answer.code not in codes:
        raise ProbeFailed(f"expected {status} {' or '.join(codes)}, got {answer.status} {answer.raw[:300]!r}")


def missing(answer: Answer, canary: str) -> None:
    if answer.status != 404 or answer.code in AIMLESS or not answer.code.endswith("missing"):
        raise ProbeFailed(f"expected a thing to be missing, got {answer.status} {answer.raw[:300]!r}")
    silent(answer, canary)


def silent(answer: Answer, canary: str) -> None:
    if canary.encode() in answer.raw:
        raise ProbeFailed(f"the reply of {answer.status} carries what the caller may not read: {answer.raw[:300]!r}")


async def succeeds(ask: Ask, client: Client) -> Answer:
    """The same request by whoever may: what the refusal before it was worth."""
    answer = await ask.by(client)
    assert 200 <= answer.status < 300, f"the rightful caller got {answer.status} {answer.raw[:300]!r}"
    return answer


async def public(stage: Stage, endpoint: Endpoint) -> None:
    """Whatever a public row answers, it does not answer by who is asking."""
    caller = await stage.ours.join()
    place = Place(stage.ours, stage.ours.team, caller)

    answers = [
        await (await stage.specimens.ask(endpoint, place)).by(Client(stage.house.app), credential)
        for credential in (None, stage.bad_credentials["unknown"])
    ]

    if any(answer.status in (401, 402, 403) or answer.status >= 500 for answer in answers):
        raise ProbeFailed(f"a public row refused a caller: {answers[0].raw[:300]!r} {answers[1].raw[:300]!r}")


async def no_credential(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(Client(stage.house.app))

    refused(answer, 401, ["identity.unauthenticated"])
    assert answer.headers["www-authenticate"] == "Bearer"
    await succeeds(ask, place.caller)


async def bad_credential(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)

    for credential in stage.bad_credentials.values():
        refused(await ask.by(Client(stage.house.app), credential), 401, ["identity.unauthenticated"])

    await succeeds(ask, place.caller)


async def role_without_permission(stage: Stage, endpoint: Endpoint) -> None:
    permission = endpoint.route.permission or ""
    place = await stage.place(endpoint)
    somebody = await place.company.join(team=place.team, **weaker(permission))
    await _fill_listing(stage, endpoint, place)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(somebody)

    _refused_for_permission(endpoint, answer, place)
    await succeeds(ask, place.caller)


def _refused_for_permission(endpoint: Endpoint, answer: Answer, place: Place) -> None:
    route = endpoint.route
    silent(answer, place.canary)
    if route.decides is Decides.RESOURCE and answer.status == 404 and endpoint.path:
        return missing(answer, place.canary)
    if route.decides is Decides.RESOURCE and answer.status == 200 and route.method == "GET" and not endpoint.path:
        return None  # a listing filters: the canary in it was not shown
    plane = {"access.plane"} if route.auth is not Auth.BEARER else set()
    return refused(answer, 403, {NO_PERMISSION, *plane})


async def token_without_permission(stage: Stage, endpoint: Endpoint) -> None:
    permission = endpoint.route.permission or ""
    place = await stage.place(endpoint)
    narrow = await stage.token_of(place.caller, permissions(rightful(endpoint)) - {permission})
    # The thing is the token's owner's own: even what one owns is out of reach beyond the scope.
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(narrow)

    refused(answer, 403, [NO_PERMISSION])
    assert answer["permission"] == permission
    await succeeds(ask, place.caller)


async def feature_off(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint, await stage.company())
    admin = await place.company.join("admin")
    ask = await stage.specimens.ask(endpoint, place)
    switch = f"/api/features/{endpoint.route.feature}"
    await made(admin.post(switch, {"enabled": False}))

    answer = await ask.by(place.caller)

    refused(answer, 403, ["features.off"])
    await made(admin.post(switch, {"enabled": True}))
    await succeeds(ask, place.caller)


async def another_teams_id(stage: Stage, endpoint: Endpoint) -> None:
    await _foreign_ids(stage, endpoint, await stage.place(endpoint, team=stage.elsewhere))


async def another_companys_id(stage: Stage, endpoint: Endpoint) -> None:
    await _foreign_ids(stage, endpoint, await stage.place(endpoint, stage.theirs))


async def _foreign_ids(stage: Stage, endpoint: Endpoint, theirs: Place) -> None:
    for parameter in parameters_of(endpoint.route.path):
        mine = await stage.place(endpoint)
        value = await stage.specimens.maker_of(parameter)(theirs)
        ask = await stage.specimens.ask(endpoint, mine, {parameter: value})
        absent = _absent(value)

        answer = await ask.by(mine.caller)
        other = await (await stage.specimens.ask(endpoint, mine, {parameter: absent})).by(mine.caller)

        missing(answer, theirs.canary)
        if _plain(answer, value) != _plain(other, absent):
            raise ProbeFailed(f"a foreign id is told from an absent one: {answer.raw!r} against {other.raw!r}")
        await succeeds(await stage.specimens.ask(endpoint, theirs, {parameter: value}), theirs.caller)


def _absent(value: str) -> str:
    try:
        UUID(value)
    except ValueError:
        return f"absent-{new_id().hex}"
    return str(new_id())


def _plain(answer: Answer, value: str) -> tuple[object, ...]:
    body = answer.body
    return answer.status, body["code"], body["title"], body["detail"].replace(value, ""), sorted(body)


async def anothers_listing(stage: Stage, endpoint: Endpoint) -> None:
    """A listing whose items have addresses shows ours and nobody else's."""
    mine = await stage.place(endpoint)
    for theirs in (
        await stage.place(endpoint, stage.theirs),
        await stage.place(endpoint, team=stage.elsewhere),
    ):
        await _fill_listing(stage, endpoint, theirs)
        ask = await stage.specimens.ask(endpoint, mine)

        silent(await succeeds(ask, mine.caller), theirs.canary)

        if theirs.canary.encode() not in (await succeeds(ask, theirs.caller)).raw:
            raise ProbeFailed("the listing does not show what was made, so its silence proves nothing")


async def _fill_listing(stage: Stage, endpoint: Endpoint, place: Place) -> None:
    maker = stage.specimens.maker_in(endpoint.route.path)
    if maker is not None and endpoint.route.method == "GET":
        await maker(place)


async def suspended_write(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint, await stage.company())
    ask = await stage.specimens.ask(endpoint, place)
    await place.company.suspend()

    answer = await ask.by(place.caller)

    refused(answer, 402, ["tenancy.suspended"])
    await place.company.suspend(False)
    await succeeds(ask, place.caller)


async def suspended_read(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint, await stage.company())
    ask = await stage.specimens.ask(endpoint, place)
    await place.company.suspend()

    answer = await ask.by(place.caller)

    if not 200 <= answer.status < 300:
        raise ProbeFailed(f"reading must go on while suspended, got {answer.status} {answer.raw[:300]!r}")


async def wrong_plane(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    org_role = "org_owner" if endpoint.route.auth is Auth.SUPERADMIN else None
    owner = await place.company.join("owner", team=place.team, org_role=org_role)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(owner)

    refused(answer, 403, ["access.plane"])
    await succeeds(ask, place.caller)
