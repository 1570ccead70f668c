"""Triggers are no deputies: what a workflow that somebody else set up can carry out of a person's private things."""

import random
from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.engine.workflows import step_attempt
from atrium.seams.context import Operation
from tests.domains.sharing.test_silence import World
from tests.domains.triggers.deputies import CARRIES, READS, Conspiracy, Outside, Plot, conspire, plots
from tests.domains.workflows.engine import Engine
from tests.postgres import fresh_database
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding


@pytest.fixture(scope="module")
def outside() -> Outside:
    return Outside()


@pytest.fixture(scope="module")
async def plotted_house(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with (
        fresh_database() as url,
        open_application(
            settings_for(url, data_dir=tmp_path_factory.mktemp("deputies")), domains=(*DOMAINS, outside.domain())
        ) as house,
    ):
        yield house


@pytest.fixture
async def conspiracy(plotted_house: Application, outside: Outside) -> Conspiracy:
    outside.heard.clear()
    company = await found_company(plotted_house)
    world = World(plotted_house, company, await company.join("member"))
    await world.furnish()
    return await conspire(world, outside)


async def test_g7_a_generated_dozen_carries_nothing_out(conspiracy: Conspiracy) -> None:
    many = list(plots(7, 12))

    await conspiracy.play(many)

    assert await conspiracy.leaks() == []
    assert len(conspiracy.runs) == len(many)
    assert conspiracy.states["succeeded"] > 0


@pytest.mark.proof
async def test_g7_sixty_workflows_carry_nothing_out(conspiracy: Conspiracy) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    many = list(plots(seed, 60))

    await conspiracy.play(many)

    assert await conspiracy.leaks() == []
    assert {plot.read for plot in many} == set(READS)
    assert {plot.carry for plot in many} == set(CARRIES)
    print(f"60 workflows, {len(conspiracy.runs)} runs, {conspiracy.states}: 0 words")


async def test_g7_without_the_repair_the_same_dozen_carries_words_out(
    conspiracy: Conspiracy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unbound(op: Operation, run_id: object) -> Operation:
        return op

    monkeypatch.setattr(step_attempt, "bind", unbound)
    await conspiracy.play(list(plots(7, 12)))

    assert any("outside" in one for one in await conspiracy.leaks())
    assert any("alice" in one for one in await conspiracy.leaks())


async def fired(conspiracy: Conspiracy, plot: Plot) -> dict[str, object]:
    """The run of a plot, to its end, as Mia sees it."""
    await conspiracy.play([plot])
    [id] = conspiracy.runs
    return dict((await conspiracy.world.mia.get(f"/api/runs/{id}")).body)


def plot_of(read: str, carry: str, visibility: str = "private", *, consent: bool = False) -> Plot:
    return Plot(0, read, carry, visibility, "carol", consent, by_hand=False)


async def test_g7_a_private_file_fires_and_stays_private(conspiracy: Conspiracy) -> None:
    mia = conspiracy.world.mia

    run = await fired(conspiracy, plot_of("the file that fires", "document"))

    assert run["state"] == "succeeded", run
    [written] = [one for one in (await mia.get("/api/documents"))["items"] if one["title"] == "Report"]
    assert (written["visibility"], written["owner_id"]) == ("private", mia.user_id)
    assert await conspiracy.leaks() == []


async def test_g7_what_a_run_made_from_its_file_is_made_anew_with_the_next_version(conspiracy: Conspiracy) -> None:
    plot, mia = plot_of("the file that fires", "derived document"), conspiracy.world.mia
    await conspiracy.play([plot])

    await conspiracy.play_again(plot)

    states = [run["state"] for run in (await mia.get("/api/runs"))["items"]]
    [form] = [one for one in (await mia.get("/api/repo"))["items"] if one["key"].endswith(".form.md")]
    assert (states, form["version"]["number"], form["visibility"]) == (["succeeded", "succeeded"], 2, "private")


async def test_g7_a_new_version_of_what_others_can_read_is_refused(conspiracy: Conspiracy) -> None:
    run = await fired(conspiracy, plot_of("the file that fires", "guest"))

    assert (run["state"], run["error"]["code"]) == ("failed", "workflows.readers")  # type: ignore[index]
    assert await conspiracy.leaks() == []


@pytest.mark.parametrize("tool", ["egress", "MCP", "MCP that only reads"])
async def test_g7_nothing_is_sent_elsewhere_without_an_admins_word_for_this_version(
    conspiracy: Conspiracy, outside: Outside, tool: str
) -> None:
    plot = plot_of("the file that fires", tool, "team", consent=True)
    allowed = await fired(conspiracy, plot)
    sent = len(outside.heard)
    # The same steps once more are another version.
    assert (await conspiracy.alice.post("/api/workflows", plot.spec())).status == 201
    await conspiracy.play_again(plot)

    newest = (await conspiracy.world.mia.get("/api/runs"))["items"][0]
    [trigger] = (await conspiracy.carol.get("/api/doc-triggers"))["items"]
    assert (allowed["state"], sent) == ("succeeded", 1)
    assert (newest["error"]["code"], len(outside.heard)) == ("tools.egress_refused", 1)
    assert trigger["allow_egress"] is False


async def test_g7_a_word_for_sending_does_not_count_for_what_not_everybody_can_read(
    conspiracy: Conspiracy, outside: Outside
) -> None:
    run = await fired(conspiracy, plot_of("the file that fires", "MCP", consent=True))

    assert (run["error"]["code"], outside.heard) == ("tools.egress_confined", [])  # type: ignore[index]


async def test_g7_a_run_that_follows_from_another_is_bound_by_the_first_ones_people(conspiracy: Conspiracy) -> None:
    world = conspiracy.world
    await conspiracy.arm(plot_of("the file that fires", "document", "team"))
    # Mia's own workflow reads her note; what starts it was written on behalf of Alice and Carol.
    mias = await world.company.join("admin")
    world.mia, note = mias, await mias.post("/api/notes", {"title": "x", "body": await world.word("admin's note")})
    world.ids["note"] = note["id"]
    own = Plot(1, "notes_read", "note", "team", "mia", consent=False, by_hand=False)
    assert (await mias.post("/api/workflows", own.spec())).status == 201
    armed = await mias.post(
        "/api/doc-triggers",
        {"workflow_slug": own.slug, "match_prefix": "documents/", "fire_on_derived": True, "input": conspiracy.given()},
    )
    assert armed.status == 201, armed.body

    await conspiracy.play_again(plot_of("the file that fires", "document", "team"))

    runs = {run["workflow"]["slug"]: run for run in (await mias.get("/api/runs"))["items"]}
    assert (runs["plot-0"]["state"], runs["plot-1"]["error"]["code"]) == ("succeeded", "notes.missing")
    assert await conspiracy.leaks() == []


async def test_g7_going_on_with_a_fired_run_reads_no_more_than_it_did(conspiracy: Conspiracy) -> None:
    world, plot = conspiracy.world, plot_of("notes_read", "note", "team")
    run = await fired(conspiracy, plot)

    resume = {"resume": {"run_id": run["id"], "step": "read"}}
    again = await world.mia.post(f"/api/workflows/{plot.slug}/run", resume)
    async with Engine(world.house).working():
        resumed = await world.ended(again["id"])

    assert (run["error"]["code"], resumed["error"]["code"]) == ("notes.missing", "notes.missing")  # type: ignore[index]
    assert await conspiracy.leaks() == []


async def test_g7_what_all_three_can_read_is_read(conspiracy: Conspiracy) -> None:
    world = conspiracy.world
    for person in (conspiracy.alice, conspiracy.carol):
        shared = await world.mia.post(
            f"/api/notes/{world.ids['note']}/share", {"user_id": person.user_id, "permission": "notes:read"}
        )
        assert shared.status in (200, 201), shared.body

    run = await fired(conspiracy, plot_of("notes_read", "output", "team"))

    assert run["state"] == "succeeded", run
