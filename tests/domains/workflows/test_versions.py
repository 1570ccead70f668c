"""Publishing while runs are under way: each ends as the version says that it began with."""

import asyncio

import pytest

from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.test_invariants import each
from tests.support.sizes import FULL_ONLY

pytestmark = pytest.mark.timeout(7200)
FIRST = spec_of(
    tool("begin", "echo", {"value": ref("input.name")}),
    each(["a", "b"], "echo"),
    tool("end", "echo", {"value": "the first version"}),
    inputs={"name": {"type": "string"}},
)
# The same names, other steps: what a run would come to if it changed sides.
SECOND = {
    **FIRST,
    "steps": [FIRST["steps"][0], each(["c"], "echo"), tool("end", "echo", {"value": "the second version"})],
}


@pytest.mark.parametrize("many", [40, pytest.param(1000, marks=[pytest.mark.proof, FULL_ONLY])])
async def test_publishing_changes_no_run_that_is_under_way(engine: Engine, starter: Starter, many: int) -> None:
    await starter.publish(FIRST)
    ids = [await starter.start("probe", {"name": f"run {n}"}) for n in range(many)]

    async with engine.working(8):
        # Some have ended, most have not begun, and the rest are between two steps.
        while not await engine.sql("SELECT FROM runs WHERE state = 'succeeded' LIMIT 1"):
            await asyncio.sleep(0.01)
        await starter.publish(SECOND)
        under_way = await engine.sql("SELECT count(*) FROM runs WHERE state = 'running'")
        later = await starter.ended(await starter.start("probe", {"name": "later"}), 600)
        while await engine.sql("SELECT FROM runs WHERE state = 'running' LIMIT 1"):
            await asyncio.sleep(0.05)

    runs = [await starter.read(id) for id in ids]
    steps = await engine.sql(
        "SELECT run_id, count(*) FILTER (WHERE place >= 0) AS items FROM run_steps WHERE run_id = ANY ($1) GROUP BY run_id", ids
    )  # fmt: skip
    assert under_way[0][0] > many // 2
    assert (later["workflow"]["version"], later["output"]) == (2, {"result": "the second version"})
    found = {(run["workflow"]["version"], run["state"], run["steps_used"], run["output"]["result"]) for run in runs}
    assert found == {(1, "succeeded", 5, "the first version")}
    assert {row["items"] for row in steps} == {2}
    assert len(steps) == many
    assert await engine.broken_promises() == []
    print(f"{many} runs, {under_way[0][0]} of them under way when the next version was published")
