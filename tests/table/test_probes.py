"""Every row of the table refuses whom it must, for the reason it must, on a request that is otherwise right."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import pytest

from atrium.boot.assemble import Application
from atrium.edge.cookies import Cookies
from atrium.edge.endpoint import CHANGES, Endpoint, bind
from atrium.seams.context import HoldLevel
from atrium.seams.routes import PROVISION, Auth, CredentialClass
from tests.support.client import Client
from tests.table import planted, probes
from tests.table.conftest import PROVISION_TOKEN
from tests.table.exemptions import EXEMPT
from tests.table.probes import Probe, ProbeFailed
from tests.table.rows import ENDPOINTS, Key, is_public, key_of, name_of, needs_example, parameters_of, writes
from tests.table.specimens import SPECIMENS, Place, Specimens, Unregistered
from tests.table.stage import OPERATOR, Stage, rightful
from tests.table.tally import PROPERTY, Tally

Stages = Mapping[bool, Stage]
PLANTED: dict[Key, Endpoint] = {
    (route.method, route.path): bind(route, getattr(planted, route.handler.removeprefix("planted.")))
    for route in (*planted.GOOD, *planted.BAD)
}
GOOD = [PLANTED[route.method, route.path] for route in planted.GOOD]
# What admits by a signature has its own probes in tests/domains/s3.
OWN_WAY_IN = (Auth.PUBLIC, PROVISION, Auth.SIGNED)
CREDENTIALED = [endpoint for endpoint in (*ENDPOINTS, *GOOD) if endpoint.route.auth not in OWN_WAY_IN]
# The addresses of what a DELETE moves to the trash.
TRASHED = ("/api/notes/:id", "/api/documents/:id", "/api/repo-obj/:id")
PROVISIONING = [endpoint for endpoint in ENDPOINTS if endpoint.route.auth is PROVISION]


def rows(endpoints: Iterable[Endpoint]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("endpoint", list(endpoints), ids=name_of)


def where(fits: Callable[[Endpoint], object]) -> pytest.MarkDecorator:
    """Every row behind a credential that fits, the planted good ones included so that no probe is ever idle."""
    return rows(endpoint for endpoint in CREDENTIALED if fits(endpoint))


@pytest.fixture(autouse=True)
def tallied(request: pytest.FixtureRequest) -> Iterator[None]:
    """Counts what a row's probe asks; a test that probes no row, or a planted one, is not counted."""
    before = Tally.requests
    yield
    endpoint = getattr(request.node, "callspec", None) and request.node.callspec.params.get("endpoint")
    if endpoint is not None and key_of(endpoint) not in PLANTED:
        kind = request.node.originalname.removeprefix("test_").replace("_", " ")
        request.node.user_properties.append((PROPERTY, (kind, Tally.requests - before)))


async def play(probe: Probe, stages: Stages, endpoint: Endpoint) -> None:
    """An exempted row must fail its probe, or the exemption is not needed."""
    stage = stages[key_of(endpoint) in PLANTED]
    if key_of(endpoint) not in EXEMPT.get(probe.__name__, {}):
        return await probe(stage, endpoint)
    with pytest.raises(ProbeFailed):
        await probe(stage, endpoint)
    return None


@rows(CREDENTIALED)
async def test_no_credential_opens_nothing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.no_credential, stages, endpoint)


@rows(CREDENTIALED)
async def test_a_bad_credential_opens_nothing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.bad_credential, stages, endpoint)


@where(lambda endpoint: endpoint.route.permission)
async def test_a_role_without_the_permission_is_refused(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.role_without_permission, stages, endpoint)


@where(lambda endpoint: endpoint.route.permission)
async def test_a_token_scoped_away_from_the_permission_is_refused(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.token_without_permission, stages, endpoint)


@where(lambda endpoint: endpoint.route.permission != "jobs:execute")
async def test_a_worker_is_admitted_nowhere_but_to_jobs(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.worker_elsewhere, stages, endpoint)


@where(lambda endpoint: endpoint.route.feature)
async def test_a_feature_that_is_off_closes_its_rows(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.feature_off, stages, endpoint)


@where(lambda endpoint: endpoint.path)
async def test_another_teams_id_is_missing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.another_teams_id, stages, endpoint)


@where(lambda endpoint: endpoint.path)
async def test_another_companys_id_is_missing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.another_companys_id, stages, endpoint)


@where(lambda endpoint: endpoint.route.path.startswith(TRASHED))
async def test_what_is_in_the_trash_is_missing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.in_trash, stages, endpoint)


@where(lambda endpoint: endpoint.route.method == "GET" and SPECIMENS.maker_in(endpoint.route.path))
async def test_a_listing_shows_nothing_of_others(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.anothers_listing, stages, endpoint)


@where(lambda endpoint: endpoint.route.permission is None)
async def test_a_row_without_a_permission_accepts_the_credentials_that_the_table_says(
    stages: Stages, endpoint: Endpoint
) -> None:
    await play(probes.narrow_token, stages, endpoint)


@where(writes)
async def test_a_suspended_company_writes_what_the_table_leaves_open(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.suspended_write, stages, endpoint)


@rows(endpoint for endpoint in ENDPOINTS if endpoint in CREDENTIALED and writes(endpoint))
async def test_a_suspended_tenant_writes_what_the_table_leaves_open(hosted_stage: Stage, endpoint: Endpoint) -> None:
    await probes.suspended_tenant_write(hosted_stage, endpoint)


@rows(endpoint for endpoint in ENDPOINTS if endpoint in CREDENTIALED and not writes(endpoint))
async def test_a_suspended_tenant_still_reads(hosted_stage: Stage, endpoint: Endpoint) -> None:
    await probes.suspended_tenant_read(hosted_stage, endpoint)


@where(lambda endpoint: not writes(endpoint))
async def test_a_suspended_company_still_reads(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.suspended_read, stages, endpoint)


@where(lambda endpoint: endpoint.route.method in CHANGES)
async def test_a_stale_if_match_changes_nothing(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.stale_match, stages, endpoint)


# What a worker writes is fenced by its claim and not by its credential; tests/domains/executors/test_workers.py ends one.
@where(lambda endpoint: endpoint.route.permission != "jobs:execute")
async def test_nothing_outlives_a_credential_that_ends_while_its_request_runs(
    stages: Stages, endpoint: Endpoint
) -> None:
    await play(probes.revoked_midway, stages, endpoint)


@rows(CREDENTIALED)
async def test_a_cookie_serves_our_own_pages_and_makes_no_credential(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.forged, stages, endpoint)


@where(lambda endpoint: endpoint.route.auth in (Auth.SUPERADMIN, Auth.ORG_ADMIN))
async def test_a_plain_owner_is_not_on_the_plane(stages: Stages, endpoint: Endpoint) -> None:
    await play(probes.wrong_plane, stages, endpoint)


@rows(endpoint for endpoint in ENDPOINTS if is_public(endpoint))
async def test_a_public_row_asks_nobody_who_they_are(untouched_stage: Stage, endpoint: Endpoint) -> None:
    await probes.public(untouched_stage, endpoint)


@rows(PROVISIONING)
async def test_a_provisioning_row_exists_in_hosted_mode_only(
    stage: Stage, untouched_hosted_stage: Stage, endpoint: Endpoint
) -> None:
    place = Place(stage.ours, stage.ours.team, await stage.ours.join(**OPERATOR))
    ask = await stage.specimens.ask(endpoint, place)

    probes.refused(await ask.by(place.caller), 404, ["request.no_route"])
    for credential in (None, f"Bearer {place.caller.token}", "Bearer another token"):
        probes.refused(
            await ask.by(Client(untouched_hosted_stage.house.app), credential), 401, ["identity.unauthenticated"]
        )

    await probes.succeeds(ask, Client(untouched_hosted_stage.house.app, PROVISION_TOKEN))


async def test_every_row_of_the_server_is_probed(house: Application) -> None:
    assert [key_of(endpoint) for endpoint in house.endpoints] == [key_of(endpoint) for endpoint in ENDPOINTS]


def lacking(endpoints: Iterable[Endpoint], specimens: Specimens) -> list[str]:
    """What rows need and nobody registered."""
    found = []
    for endpoint in endpoints:
        found += [f"maker {path}" for path in parameters_of(endpoint.route.path) if path not in specimens.makers]
        if needs_example(endpoint) and key_of(endpoint) not in specimens.examples:
            found.append(f"example {name_of(endpoint)}")
    return found


def left_over(endpoints: Iterable[Endpoint], specimens: Specimens) -> set[object]:
    """What is registered and no row needs."""
    endpoints = list(endpoints)
    used = {path for endpoint in endpoints for path in parameters_of(endpoint.route.path)}
    return {*(specimens.makers.keys() - used), *(specimens.examples.keys() - {key_of(one) for one in endpoints})}


def test_every_row_comes_with_makers_and_examples() -> None:
    assert lacking(ENDPOINTS, SPECIMENS) == []


def test_makers_and_examples_serve_a_row() -> None:
    assert left_over(ENDPOINTS, SPECIMENS) == set()
    assert left_over(ENDPOINTS[:-1], SPECIMENS) == {key_of(ENDPOINTS[-1])}


def test_an_exemption_names_a_probe_and_a_row_and_a_reason() -> None:
    keys = {key_of(endpoint) for endpoint in ENDPOINTS}

    for probe, exempted in EXEMPT.items():
        assert callable(getattr(probes, probe))
        assert exempted.keys() <= keys
        assert all(exempted.values())


async def test_an_exemption_that_is_not_needed_fails(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXEMPT, "another_companys_id", {("GET", "/api/notes/:id"): "for no reason"})
    note = next(one for one in ENDPOINTS if key_of(one) == ("GET", "/api/notes/:id"))

    with pytest.raises(pytest.fail.Exception):
        await play(probes.another_companys_id, stages, note)


def test_a_planted_row_without_maker_or_example_is_found() -> None:
    assert lacking(PLANTED.values(), planted.PLANTED_SPECIMENS) == [
        "maker /api/planted/unmade/:id",
        "example POST /api/planted/unexampled",
    ]


@pytest.mark.parametrize("path", ["/api/planted/unmade/:id", "/api/planted/unexampled"])
async def test_a_planted_row_without_maker_or_example_fails_its_probes(planted_stage: Stage, path: str) -> None:
    with pytest.raises(Unregistered):
        await probes.no_credential(planted_stage, PLANTED["POST", path])


@pytest.mark.parametrize("probe", [probes.another_teams_id, probes.another_companys_id])
async def test_a_planted_leak_by_id_is_found(planted_stage: Stage, probe: Probe) -> None:
    with pytest.raises(ProbeFailed):
        await probe(planted_stage, PLANTED["GET", "/api/planted/leaks/:name"])


async def test_a_planted_leak_by_listing_is_found(planted_stage: Stage) -> None:
    with pytest.raises(ProbeFailed):
        await probes.anothers_listing(planted_stage, PLANTED["GET", "/api/planted/leaks"])


async def test_a_planted_row_that_nods_everybody_through_is_found(planted_stage: Stage) -> None:
    with pytest.raises(ProbeFailed):
        await probes.role_without_permission(planted_stage, PLANTED["POST", "/api/planted/nods"])


async def test_a_row_that_ignores_if_match_is_found(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = next(one for one in stage.house.endpoints if key_of(one) == ("DELETE", "/api/tokens/:id"))
    monkeypatch.setattr(tokens, "blind", False)

    with pytest.raises(ProbeFailed, match="ignored"):
        await probes.stale_match(stage, tokens)


async def test_a_row_that_writes_after_its_credential_ended_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = next(one for one in stage.house.endpoints if key_of(one) == ("POST", "/api/notes"))
    monkeypatch.setattr(notes, "holding", HoldLevel.NOTHING)

    with pytest.raises(ProbeFailed, match="without holding"):
        await probes.revoked_midway(stage, notes)


async def test_a_row_that_gives_unasked_is_found(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = next(one for one in stage.house.endpoints if key_of(one) == ("POST", "/api/tokens"))
    giving = replace(tokens, route=tokens.route)
    monkeypatch.setattr(tokens, "route", replace(tokens.route, gives=False))

    with pytest.raises(ProbeFailed):
        await probes.forged(stage, giving)


async def test_a_forged_request_that_is_admitted_is_found(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = next(one for one in stage.house.endpoints if key_of(one) == ("POST", "/api/notes"))
    monkeypatch.setattr(Cookies, "_is_same_origin", lambda self, request: True)

    with pytest.raises(ProbeFailed):
        await probes.forged(stage, notes)


async def test_a_row_that_accepts_any_scope_fails_the_probe_of_a_narrower_class(stage: Stage) -> None:
    features = next(one for one in ENDPOINTS if key_of(one) == ("GET", "/api/features"))

    for accepts in (CredentialClass.SESSION, CredentialClass.UNSCOPED, frozenset({"chat:use"})):
        with pytest.raises(ProbeFailed):
            await probes.narrow_token(stage, replace(features, route=replace(features.route, accepts=accepts)))


@pytest.mark.parametrize("probe", [probes.feature_off, probes.wrong_plane, probes.suspended_write])
async def test_a_row_that_promises_nothing_fails_the_probe_of_the_promise(stage: Stage, probe: Probe) -> None:
    switch = next(one for one in ENDPOINTS if key_of(one) == ("GET", "/api/features"))

    with pytest.raises(ProbeFailed):
        await probe(stage, replace(switch, route=replace(switch.route, feature="chat")))


def test_a_row_on_a_plane_without_a_known_caller_is_found() -> None:
    with pytest.raises(Unregistered):
        rightful(replace(ENDPOINTS[0], route=replace(ENDPOINTS[0].route, auth=PROVISION)))
