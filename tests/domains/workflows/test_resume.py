"""Resuming: what was done is not done again, and what was paid is not paid again."""

from typing import Any

import pytest

from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.test_runs import notes_called

CHAIN = spec_of(
    tool("write", "write", {"value": ref("input.title")}),
    tool("stumble", "stumble", {"value": "here"}),
    tool("last", "echo", {"value": ref("steps.stumble.output.result")}),
    inputs={"title": {"type": "string"}},
)


async def resumed(starter: Starter, id: Any, step: str, **more: Any) -> dict[str, Any]:
    again = await starter.start("probe", resume={"run_id": str(id), "step": step, **more.pop("resume", {})}, **more)
    async with starter.engine.working():
        return await starter.ended(again)


async def test_a_run_goes_on_at_the_step_that_failed(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["here"] = 1
    failed = await starter.run(CHAIN, {"title": "written once"})
    run = await resumed(starter, failed["id"], "stumble")

    assert failed["state"] == "failed"
    assert (run["state"], run["output"]) == ("succeeded", {"result": "here done"})
    assert run["resumed_from"] == {"run_id": failed["id"], "step": "stumble"}
    assert [(step["name"], step["reused_from"]) for step in run["steps"]] == [
        ("write", failed["id"]), ("stumble", None), ("last", None),
    ]  # fmt: skip
    assert run["steps_used"] == 3
    assert await notes_called(starter, "written once") == 1
    assert await starter.read(failed["id"]) == failed
    assert await engine.broken_promises() == []


async def test_a_mended_version_can_go_on_and_one_that_differs_before_cannot(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["here"] = 1
    failed = await starter.run(CHAIN, {"title": "mended"})
    mended = {**CHAIN, "steps": [CHAIN["steps"][0], tool("stumble", "echo", {"value": "mended"}), CHAIN["steps"][2]]}
    await starter.publish(mended)
    same = await resumed(starter, failed["id"], "stumble")
    newer = await resumed(starter, failed["id"], "stumble", version=2)
    other = {**CHAIN, "start": "begin", "steps": [tool("begin", "echo"), *CHAIN["steps"][1:]]}
    await starter.publish(other)
    refused = await starter.client.post(
        "/api/workflows/probe/run", {"version": 3, "resume": {"run_id": failed["id"], "step": "stumble"}}
    )

    assert (same["workflow"]["version"], same["output"]) == (1, {"result": "here done"})
    assert (newer["workflow"]["version"], newer["output"]) == (2, {"result": "mended"})
    assert (refused.status, refused.code, refused["step"]) == (409, "workflows.cannot_resume", "write")


async def test_of_a_map_only_what_failed_runs_again(engine: Engine, starter: Starter) -> None:
    spec = spec_of(
        {"name": "each", "kind": "map", "over": ref("input.words"), "tool": "probe_stumble", "with": {"value": ref("item")}},
        inputs={"words": {"type": "array"}},
    )  # fmt: skip
    probes.STUMBLES |= {"b": 1, "d": 1}
    failed = await starter.run(
        {**spec, "steps": [{**spec["steps"][0], "on_item_error": "collect"}]}, {"words": list("abcde")}
    )
    first = list(probes.CALLS)
    probes.CALLS.clear()
    run = await resumed(starter, failed["id"], "each")

    assert sorted(first) == list("abcde")
    assert sorted(probes.CALLS) == ["b", "d"]
    assert [entry["status"] for entry in run["output"]["results"]] == ["succeeded"] * 5
    assert [item["reused_from"] for item in run["steps"][0]["items"]] == [
        failed["id"], None, failed["id"], None, failed["id"],
    ]  # fmt: skip
    assert run["steps_used"] == 6
    probes.CALLS.clear()
    everything = await resumed(starter, failed["id"], "each", resume={"items": "all"})
    assert sorted(probes.CALLS) == list("abcde")
    assert everything["state"] == "succeeded"
    assert await engine.broken_promises() == []


@pytest.mark.parametrize(("step", "problem"), [("last", "stumble"), ("nowhere", "nowhere")])
async def test_a_step_that_the_run_did_not_come_to_is_refused(
    engine: Engine, starter: Starter, step: str, problem: str
) -> None:
    probes.STUMBLES["here"] = 1
    failed = await starter.run(CHAIN, {"title": "x"})
    reply = await starter.client.post("/api/workflows/probe/run", {"resume": {"run_id": failed["id"], "step": step}})

    assert (reply.status, reply.code, reply["step"]) == (409, "workflows.cannot_resume", problem)


async def test_a_run_under_way_is_not_resumed_and_a_colleague_cannot_take_it_over(
    engine: Engine, starter: Starter
) -> None:
    await starter.publish(CHAIN)
    id = await starter.start("probe", {"title": "mine"})
    resume = {"resume": {"run_id": str(id), "step": "stumble"}}
    early = await starter.client.post("/api/workflows/probe/run", resume)
    async with engine.working():
        await starter.ended(id)
    colleague = await starter.company.join("member")
    theirs = await colleague.post("/api/workflows/probe/run", resume)
    elsewhere = await (await engine.company()).client.post("/api/workflows/probe/run", resume)

    assert (early.status, early.code) == (409, "workflows.cannot_resume")
    assert (theirs.status, theirs.code) == (409, "workflows.cannot_resume")
    assert elsewhere.status == 404


async def test_a_run_is_resumed_at_its_own_workflow_only(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["here"] = 1
    failed = await starter.run(CHAIN, {"title": "elsewhere"})
    await starter.publish({**CHAIN, "slug": "another"})
    reply = await starter.client.post(
        "/api/workflows/another/run", {"resume": {"run_id": failed["id"], "step": "stumble"}}
    )

    assert (reply.status, reply.code) == (409, "workflows.cannot_resume")
