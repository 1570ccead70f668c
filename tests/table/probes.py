"""The probes: what every row must refuse, shown on a request that its rightful caller then makes with success."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import replace
from uuid import UUID

from atrium.edge.endpoint import Endpoint
from atrium.kit.ids import new_id
from atrium.seams.routes import READS, Auth, CredentialClass, Decides, Suspension
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.table import revocation
from tests.table.footprint import changed, footprint
from tests.table.rows import parameters_of
from tests.table.specimens import Ask, Place, made
from tests.table.stage import Stage, permissions, rightful, somebody, weaker

Probe = Callable[[Stage, Endpoint], Awaitable[None]]
NO_PERMISSION = "access.permission_missing"
NO_SESSION = "identity.confirm_required"
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
    other = await somebody(place.company, place.team, weaker(permission))
    await _fill_listing(stage, endpoint, place)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(other)

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
    # The thing is the token's owner's own: the scope limits access even to what one owns.
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(narrow)

    refused(answer, 403, [NO_PERMISSION])
    assert answer["permission"] == permission
    await succeeds(ask, place.caller)


async def narrow_token(stage: Stage, endpoint: Endpoint) -> None:
    """A row without a permission lets in exactly the tokens that the table says."""
    place = await stage.place(endpoint)
    person, accepts = place.caller, endpoint.route.accepts
    held = permissions(rightful(endpoint))
    ask = await stage.specimens.ask(endpoint, place)

    for scope in _short_scopes(held, accepts):
        answer = await ask.by(await stage.token_of(person, scope))
        if accepts is CredentialClass.ANY:
            assert 200 <= answer.status < 300, f"this row accepts any credential, got {answer.raw[:300]!r}"
        else:
            silent(answer, place.canary)
            refused(answer, 403, [NO_SESSION if accepts is CredentialClass.SESSION else NO_PERMISSION])

    await succeeds(ask, await _widest(stage, person, accepts))


def _short_scopes(held: frozenset[str], accepts: object) -> Iterator[frozenset[str] | None]:
    """One permission alone, and as many as fall short of the row; for sessions' rows a token without a scope, too."""
    fitting = accepts if isinstance(accepts, frozenset) else frozenset()
    yield frozenset({min(held - fitting)})
    yield held - fitting
    if accepts is CredentialClass.SESSION:
        yield None


async def _widest(stage: Stage, person: Client, accepts: object) -> Client:
    if accepts is CredentialClass.SESSION:
        return person
    return await stage.token_of(person, {min(accepts)} if isinstance(accepts, frozenset) else None)


async def worker_elsewhere(stage: Stage, endpoint: Endpoint) -> None:
    """A worker's credential opens the rows of workers and no other, whatever those ask for: of a company, or of the instance."""
    place = await stage.place(endpoint)
    await _fill_listing(stage, endpoint, place)
    ask = await stage.specimens.ask(endpoint, place)

    for worker in (await place.company.worker(), await place.company.worker(bound=False)):
        answer = await ask.by(worker)
        silent(answer, place.canary)
        refused(answer, 403, [NO_PERMISSION])

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


async def in_trash(stage: Stage, endpoint: Endpoint) -> None:
    """What was deleted is missing at each of its addresses, to its owner as to anybody; restored, it is there again."""
    parameter = parameters_of(endpoint.route.path)[0]
    place = await stage.place(endpoint)
    id = await stage.specimens.maker_of(parameter)(place)
    ask = await stage.specimens.ask(endpoint, place, {parameter: id})
    await made(place.caller.delete(f"{parameter.rpartition('/')[0]}/{id}"))

    answer = await ask.by(place.caller)

    missing(answer, place.canary)
    other = await (await stage.specimens.ask(endpoint, place, {parameter: _absent(id)})).by(place.caller)
    if _plain(answer, id) != _plain(other, _absent(id)):
        raise ProbeFailed(f"a deleted thing is told from an absent one: {answer.raw!r} against {other.raw!r}")
    await made(place.caller.post(f"/api/trash/{id}/restore", {}))
    await succeeds(ask, place.caller)


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

        asked_there = await stage.specimens.ask(endpoint, theirs)
        if theirs.canary.encode() not in (await succeeds(asked_there, theirs.caller)).raw:
            raise ProbeFailed("the listing does not show what was made, so its silence proves nothing")


async def _fill_listing(stage: Stage, endpoint: Endpoint, place: Place) -> None:
    maker = stage.specimens.maker_in(endpoint.route.path)
    if maker is not None and endpoint.route.method == "GET":
        await maker(place)


async def suspended_write(stage: Stage, endpoint: Endpoint) -> None:
    """While a company is suspended a row writes exactly when the table says so."""
    place = await stage.place(endpoint, await stage.company())
    ask = await stage.specimens.ask(endpoint, place)
    await place.company.suspend()

    answer = await ask.by(place.caller)

    if endpoint.route.suspension is not Suspension.CLOSED:
        return went_on(answer)
    refused(answer, 402, ["tenancy.suspended"])
    await place.company.suspend(False)
    await succeeds(ask, place.caller)
    return None


async def suspended_tenant_write(stage: Stage, endpoint: Endpoint) -> None:
    """While the whole tenant is suspended only what ends or hardens credentials is written."""
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)
    await suspend_tenant(stage, True)
    try:
        answer = await ask.by(place.caller)
    finally:
        await suspend_tenant(stage, False)

    if endpoint.route.suspension is Suspension.OPEN:
        return went_on(answer)
    refused(answer, 402, ["hosting.suspended"])
    await succeeds(ask, place.caller)
    return None


async def suspended_tenant_read(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)
    await suspend_tenant(stage, True)
    try:
        went_on(await ask.by(place.caller))
    finally:
        await suspend_tenant(stage, False)


async def suspend_tenant(stage: Stage, suspended: bool) -> None:
    await run_as_owner(
        stage.house.services.settings.database_url,
        "UPDATE instance SET suspended_at = CASE WHEN $1 THEN now() END",
        suspended,
    )


def went_on(answer: Answer) -> None:
    if not 200 <= answer.status < 300:
        raise ProbeFailed(f"this must go on while suspended, got {answer.status} {answer.raw[:300]!r}")


async def suspended_read(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint, await stage.company())
    ask = await stage.specimens.ask(endpoint, place)
    await place.company.suspend()

    went_on(await ask.by(place.caller))


async def wrong_plane(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    org_role = "org_owner" if endpoint.route.auth is Auth.SUPERADMIN else None
    owner = await place.company.join("owner", team=place.team, org_role=org_role)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await ask.by(owner)

    refused(answer, 403, ["access.plane"])
    await succeeds(ask, place.caller)


async def stale_match(stage: Stage, endpoint: Endpoint) -> None:
    """A change on top of something else than what is there changes nothing; on top of what is there, it is made."""
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)
    url = stage.house.services.settings.database_url
    before = await footprint(url)

    answer = await ask.by(place.caller, if_match='"stale"')

    if answer.status != 412:
        raise ProbeFailed(f"If-Match was ignored: {answer.status} {answer.raw[:300]!r}")
    if moved := changed(before, await footprint(url)):
        raise ProbeFailed(f"a refused change left something in {moved}")
    current = answer.headers.get("etag")
    if (answer.code == "request.nothing_to_match") is (current is not None):
        raise ProbeFailed("the reply must name what is there, or say that there is nothing to compare")
    done = await ask.by(place.caller, **({"if_match": current} if current else {}))
    assert 200 <= done.status < 300, f"the rightful caller got {done.status} {done.raw[:300]!r}"


# What a browser says about a request that another site's page, a sibling's, or nobody in particular made it send.
FORGERIES: tuple[dict[str, str], ...] = (
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "cross-site", "origin": "http://atrium.test"},
    {"origin": "http://evil.test"},
    {"origin": "http://atrium.test:8080"},
    {"origin": "null"},
)
# Reading by typing an address, or with a browser that says nothing, is a person's own; writing is not.
FORGED_WRITES: tuple[dict[str, str], ...] = ({}, {"sec_fetch_site": "none"})
CONFIRMS = frozenset({
    ("POST", "/api/password"), ("POST", "/api/2fa/enable"), ("POST", "/api/2fa/recovery-codes"), ("DELETE", "/api/2fa"),
})  # fmt: skip


async def forged(stage: Stage, endpoint: Endpoint) -> None:
    """A browser's cookie alone does nothing for another site's page, and gives no credential and no power to a script on our own."""
    route = endpoint.route
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)
    # A machine has no browser; its rows are probed with a person's, whom they refuse for another reason at last.
    machines = route.permission == "jobs:execute"
    browser = await stage.browser_of(await place.company.join("owner") if machines else place.caller)
    silent_browser = replace(browser, site="")
    if route.protocol is not None:
        return await _without_cookies(ask, silent_browser)

    for sent in (*FORGERIES, *(FORGED_WRITES if route.method not in READS else ())):
        refused(await ask.by(silent_browser, **sent), 403, ["identity.cross_origin"])

    own = await ask.by(browser)
    if route.gives or (route.method, route.path) in CONFIRMS:
        refused(own, 403, ["identity.confirm_required"])
    elif not machines and not 200 <= own.status < 300:
        raise ProbeFailed(f"our own page was refused: {own.status} {own.raw[:300]!r}")
    return None


async def _without_cookies(ask: Ask, browser: Client) -> None:
    """What programs alone call takes no cookie from any page, and nothing at all from a page elsewhere."""
    for sent in (*FORGERIES, *FORGED_WRITES, {"sec_fetch_site": "same-origin"}):
        status, code = (403, "identity.cross_origin") if "origin" in sent else (401, "identity.unauthenticated")
        refused(await ask.by(browser, **sent), status, [code])


async def revoked_midway(stage: Stage, endpoint: Endpoint) -> None:
    """Nothing is written after the end of the caller's credential was acknowledged, whenever it ended."""
    try:
        endings = await revocation.count_endings(stage, endpoint)
    except revocation.OutlivedItsCredential as found:
        raise ProbeFailed(str(found)) from found
    if not endings and endpoint.route.method not in READS:
        raise ProbeFailed("this row writes without holding its caller's credential")
