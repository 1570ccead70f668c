"""What the interface says of runs that the server once did not keep, each with the number of its finding."""

from uuid import UUID

from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Operation
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand

ASK = {"name": "ask", "kind": "tool", "tool": "chat_message", "with": {"text": "Good morning"}}
SPEND_ALL = {"name": "all", "kind": "map", "over": ref("input.items"), "tool": "probe_spend", "with": {}}
SPENDING = spec_of(SPEND_ALL, inputs={"items": {"type": "array"}})


async def limit(starter: Starter, most: int | None) -> None:
    """How many requests the team may make each day."""
    services, company = starter.engine.server.services, starter.company
    async with services.database.begin(company.org.id) as db:
        people = await identity.list_principals(db, company.org.id, [UUID(starter.client.user_id)])
    async with Operation(who=next(iter(people.values())), services=services).begin() as ctx:
        await quotas.set_limit(ctx, company.org.id, company.team.id, "ai.requests", "day", most)


async def waiting_for(starter: Starter, id: UUID) -> list[str | None]:
    """What the run's last step, its first item and the job of what waits are waiting for."""
    step = (await starter.read(id))["steps"][-1]
    shown = [step["waiting_reason"], *(item["waiting_reason"] for item in step["items"] or [])]
    job_id = step["job_id"] or step["items"][-1]["job_id"]
    return [*shown, (await starter.client.get(f"/api/jobs/{job_id}"))["waiting_reason"]]


async def test_e7_a_run_asks_no_model_for_a_team_that_turned_chat_off(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(ASK))
    await starter.client.post("/api/features/chat", {"enabled": False})
    id = await starter.start("probe")
    async with engine.working():
        run = await starter.ended(id)

    assert (run["state"], run["error"]["code"]) == ("failed", "features.off")
    lines = (await starter.client.get("/api/usage"))["items"]
    assert {line["used"] for line in lines if line["dimension"] == "ai.requests"} == {0}


async def test_e8_a_step_and_its_job_say_that_they_wait_for_a_limit(engine: Engine, starter: Starter) -> None:
    await limit(starter, 0)
    await starter.publish(spec_of(tool("only", "spend")))
    id = await starter.start("probe")
    await Hand(engine).work()

    assert await waiting_for(starter, id) == ["quota", "quota"]


async def test_e8_items_of_a_map_say_so_too_and_the_map_for_them(engine: Engine, starter: Starter) -> None:
    await limit(starter, 1)
    await starter.publish(SPENDING)
    id = await starter.start("probe", {"items": [1, 2]})
    await Hand(engine).work()

    assert await waiting_for(starter, id) == ["quota", None, "quota", "quota"]
    [step] = (await starter.read(id))["steps"]
    assert [step["state"], *(item["state"] for item in step["items"])] == ["running", "succeeded", "queued"]


async def test_e8_a_changed_limit_wakes_what_waits_for_it_and_nothing_else(engine: Engine, starter: Starter) -> None:
    await limit(starter, 0)
    await starter.publish(spec_of(tool("only", "spend")))
    id, hand = await starter.start("probe"), Hand(engine)
    await hand.work()
    other = await engine.company()
    await limit(other, 5)
    assert await hand.claim() == []

    await limit(starter, 5)
    await hand.work()

    assert (await starter.read(id))["state"] == "succeeded"
    assert await engine.broken_promises() == []


async def test_e8_a_job_whose_time_has_come_waits_for_no_limit_any_more(engine: Engine, starter: Starter) -> None:
    await limit(starter, 0)
    await starter.publish(spec_of(tool("only", "spend")))
    id, hand = await starter.start("probe"), Hand(engine)
    await hand.work()
    await hand.stage()

    # Nobody is there to run it.
    assert await waiting_for(starter, id) == ["no_worker", "no_worker"]


async def test_e9_a_map_has_used_what_its_items_have(engine: Engine, starter: Starter) -> None:
    await starter.publish(SPENDING)
    id = await starter.start("probe", {"items": [1, 2, 3]})
    async with engine.working():
        run = await starter.ended(id)

    assert run["state"] == "succeeded"
    assert run["steps"][0]["usage"] == {"ai.requests": 3}


async def test_e12_a_started_run_says_where_it_is(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("only", "echo")))

    answers = [
        await starter.client.post("/api/workflows/probe/run", {}),
        await starter.client.post("/api/kg/extract", {}),
    ]

    for answer in answers:
        assert (answer.status, answer.headers["location"]) == (202, f"/api/runs/{answer['id']}")
        assert (await starter.client.get(answer.headers["location"]))["id"] == answer["id"]


async def test_e24_an_attempt_that_failed_says_when_it_began(engine: Engine, starter: Starter) -> None:
    run = await starter.run(spec_of(tool("only", "refuse")))

    [attempt] = run["steps"][0]["attempts"]
    assert attempt["state"] == "failed"
    assert attempt["started_at"] is not None
    assert attempt["started_at"] <= attempt["finished_at"]


async def test_p11_the_format_names_the_keys_that_results_have(engine: Engine, starter: Starter) -> None:
    echo = {"name": "all", "kind": "map", "over": ref("input.items"), "tool": "probe_echo", "with": {"value": "x"}}
    run = await starter.run(spec_of(echo, inputs={"items": {"type": "array"}}), {"items": [1]})

    said = (await starter.client.get("/api/workflows/schema"))["references"]["steps.<step>.output.results[.<path>]"]
    named = said[said.index("{") + 1 : said.index("}")].replace(" | ", ", ").split(", ")
    [entry] = run["steps"][0]["output"]["results"]
    assert set(entry) == set(named) - {"error"}
    assert entry["state"] == entry["status"] == "succeeded"


async def test_p8_what_a_tool_wrote_opens_from_its_card(engine: Engine, starter: Starter) -> None:
    given = {"title": "Check invoice 2044", "body": "It has no total."}
    made = [{"name": name, "kind": "tool", "tool": f"{name}_create", "with": given} for name in ("notes", "documents")]
    run = await starter.run(spec_of(*made))

    note, document = (step["output"]["result"] for step in run["steps"])
    assert note["ref"] == {"kind": "note", "id": note["note_id"]}
    assert (await starter.client.get(f"/api/notes/{note['ref']['id']}"))["title"] == given["title"]
    assert note["ref"]["id"] not in note["summary"]
    assert document["ref"] == {"kind": "document", "id": document["object_id"]}
