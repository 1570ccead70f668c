"""Triggers that feed each other end by themselves, and say in their history why."""

import asyncio
from typing import Any
from uuid import UUID

from tests.domains.triggers.flows import arm, document_spec, done, history, outcomes, upload
from tests.domains.triggers.test_firing import sql
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company


async def feeding(boss: Client, reads: str, writes: str) -> Any:
    """A trigger on documents of one title, whose workflow writes one of another."""
    slug = f"to-{writes}"
    await done(boss.post("/api/workflows", document_spec(slug, writes)))
    return await arm(boss, slug, match_prefix=f"documents/{reads}-", fire_on_derived=True)


async def until_ended(firm: Company, runs: int) -> list[Any]:
    """Every run of the team, once so many have ended and none goes on."""
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            found = await sql(firm, "SELECT * FROM runs WHERE team_id = $1 ORDER BY id", firm.team.id)
            if len(found) >= runs and all(run["state"] != "running" for run in found):
                return found
            await asyncio.sleep(0.1)


async def test_a_trigger_that_feeds_itself_ends(firm: Company, boss: Client) -> None:
    trigger = await feeding(boss, "echo", "echo")

    await done(boss.post("/api/documents", {"title": "echo", "body": "x"}))
    runs = await until_ended(firm, 1)

    assert [run["state"] for run in runs] == ["succeeded"]
    assert await outcomes(boss, trigger) == ["loop", "fired"]


async def test_two_triggers_that_feed_each_other_end(firm: Company, boss: Client) -> None:
    ping, pong = await feeding(boss, "ping", "pong"), await feeding(boss, "pong", "ping")

    await done(boss.post("/api/documents", {"title": "ping", "body": "x"}))
    runs = await until_ended(firm, 2)

    assert [run["state"] for run in runs] == ["succeeded"] * 2
    assert (await outcomes(boss, ping), await outcomes(boss, pong)) == (["loop", "fired"], ["fired"])


async def test_a_chain_of_twenty_ends_at_the_depth_of_the_setting(firm: Company, boss: Client) -> None:
    chain = [await feeding(boss, f"link{n}", f"link{n + 1}") for n in range(20)]

    await done(boss.post("/api/documents", {"title": "link0", "body": "x"}))
    runs = await until_ended(firm, 6)

    assert [(run["state"], run["depth"]) for run in runs] == [("succeeded", depth) for depth in range(6)]
    assert [await outcomes(boss, one) for one in chain] == [["fired"]] * 6 + [["depth"]] + [[]] * 13


async def test_a_client_that_rewrites_on_every_change_ends(firm: Company, boss: Client) -> None:
    """A program outside, which no run knows of: each answer of its workflow makes it write again."""
    slug = "outside"
    await done(boss.post("/api/workflows", document_spec(slug, "noise")))
    trigger = await arm(boss, slug, match_prefix="watched/")
    written = await upload(boss, "watched/a.txt")

    answered = 0
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            [fire, *_] = await history(boss, trigger)
            if fire["outcome"] == "skipped":
                break
            if fire["run_state"] == "succeeded":
                answered += 1
                await upload(boss, "watched/a.txt", str(answered).encode())
            await asyncio.sleep(0.01)

    assert (answered, await outcomes(boss, trigger)) == (20, ["storm"] + ["fired"] * 20)
    assert (await boss.get(f"/api/repo-obj/{written['id']}"))["version"]["number"] == 21


async def test_a_resumed_run_descends_from_what_its_first_half_did(firm: Company, boss: Client) -> None:
    trigger = await feeding(boss, "echo", "echo")
    await done(boss.post("/api/documents", {"title": "echo", "body": "x"}))
    [run] = await until_ended(firm, 1)

    resume = {"resume": {"run_id": str(run["id"]), "step": "write"}}
    await done(boss.post(f"/api/workflows/{run['slug']}/run", resume))
    runs = await until_ended(firm, 2)

    assert [one["ancestry"] for one in runs] == [[UUID(trigger["id"])]] * 2
    assert await outcomes(boss, trigger) == ["loop", "loop", "fired"]
