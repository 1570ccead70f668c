"""A kill -9 at any step leaves the company whole on exactly one side, and the same command again goes on; the guide's commands work."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests.domains.moving.sides import TRANSFER, Side, at, two_sides
from tests.support.people import found_company
from tests.support.processes import ROOT, environment
from tests.walls.population import seal

LEAVING = ("marked", "rows written", "archive named", "archive noted")
ARRIVING = ("bytes put", "half of the rows in", "all rows in", "about to commit", "committed")
RELEASING = ("half of the rows gone", "about to release", "rows gone, bytes not")


async def run(side: Side, step: str, *arguments: str) -> tuple[int, str]:
    """The exit code of a command, killed at a step when there is one, and what it printed."""
    settings = {
        "database_url": side.url, "secret_key": side.settings.secret_key, "data_dir": side.settings.data_dir, "transfer_key": TRANSFER,
        "multitenant": 1,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.processes.kills.killed", step, "company", *arguments,
        cwd=ROOT, env=environment(**settings), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complained = await process.communicate()
    if process.returncode not in (0, -9):
        print(complained.decode())
    return process.returncode or 0, said.decode()


async def test_a_kill_on_the_way_leaves_the_company_whole_on_one_side(tmp_path: Path) -> None:
    await killed_at(tmp_path, LEAVING[2:3], ARRIVING[3:4], RELEASING[1:2])


@pytest.mark.proof
async def test_a_kill_at_each_step_leaves_the_company_whole_on_one_side(tmp_path: Path) -> None:
    await killed_at(tmp_path, LEAVING, ARRIVING, RELEASING)


async def killed_at(
    tmp_path: Path, leaving_at: tuple[str, ...], arriving_at: tuple[str, ...], releasing_at: tuple[str, ...]
) -> None:
    async with two_sides() as (a, b):
        company = await found_company(a.house)
        org, person = company.org.id, await company.join("owner")
        await person.put("/api/repo/a.txt", b"bytes that are worth keeping")
        await person.post("/api/notes", {"title": "a note that is worth keeping"})
        await seal(a.house, company)
        before, kept = await a.rows(org), await a.bytes_of(org)

        for n, step in enumerate(leaving_at):
            assert (await run(a, step, "export", str(org), str(tmp_path / f"archive-{n}")))[0] == -9, step
            assert _without_events(await a.rows(org)) == _without_events(before), step
            assert sum((await b.counts()).values()) == 0, step
        assert (await run(a, "", "export", str(org), str(tmp_path / "archive")))[0] == 0
        leaving = await a.rows(org)

        for step in arriving_at:
            assert (await run(b, step, "import", str(tmp_path / "archive")))[0] == -9, step
            there = await b.rows(org)
            assert await a.rows(org) == leaving, step
            assert there == leaving if step == "committed" else sum(map(len, there.values())) == 0, step
            # Written on one side at most.
            assert (await person.post("/api/notes", {"title": "not here"})).status == 402, step
        code, receipt = await run(b, "", "import", str(tmp_path / "archive"))
        assert code == 0
        assert await b.bytes_of(org) == kept
        (tmp_path / "receipt").write_text(receipt)

        for step in releasing_at:
            command = (
                "release",
                str(org),
                "--receipt",
                str(tmp_path / "receipt"),
                "--moved-to",
                "https://b.example.com",
            )
            assert (await run(a, step, *command))[0] == -9, step
            here = await a.rows(org)
            assert sum(map(len, here.values())) == 0 if step == RELEASING[-1] else here == leaving, step
        assert await a.bytes_of(org) == kept
        assert (await run(a, "", *command))[0] == 0
        assert await a.bytes_of(org) == {}
        assert (await person.get("/api/notes")).status == 421
        assert (await at(b, person).post("/api/notes", {"title": "here"})).status == 201


def _without_events(rows: dict[str, list[dict[str, str | None]]]) -> dict[str, list[dict[str, str | None]]]:
    return {name: found for name, found in rows.items() if name != "audit_events"}


async def test_the_commands_of_the_guide_work(tmp_path: Path) -> None:
    text = (ROOT / "docs/guides/moving.md").read_text()
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    told = [line.removeprefix("atrium company ") for line in commands if line.startswith("atrium company ")]
    assert [line.split()[0] for line in told] == ["export", "import", "release", "import", "stay"]
    async with two_sides() as (a, b):
        company = await found_company(a.house)
        await company.join("owner")

        for side, line in zip((a, b, a), told, strict=False):
            words = line.replace("acme ", f"{company.org.slug} ").replace("/srv", str(tmp_path)).split()
            out = Path(words.pop()) if ">" in words else None
            code, said = await run(side, "", *(word for word in words if word != ">"))
            assert code == 0, line
            if out is not None:
                out.write_text(said)

        assert os.stat(tmp_path / "acme.archive").st_mode & 0o777 == 0o600
        assert sum(map(len, (await a.rows(company.org.id)).values())) == 0
