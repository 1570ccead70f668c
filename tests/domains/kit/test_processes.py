"""Child processes end when they are told to."""

import asyncio
from asyncio.subprocess import PIPE

import pytest

from atrium.kit.isolation.processes import end_process
from tests.support.patience import PATIENCE

WRITES_ON = "import sys\nwhile True:\n    sys.{stream}.write('x' * 4096)"
HANDS_ON = (
    "import subprocess, sys, time\nsubprocess.Popen(['sleep', '120'])\nprint('begun', flush=True)\ntime.sleep(120)"
)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_process_that_wrote_more_than_is_read_ends(stream: str) -> None:
    process = await asyncio.create_subprocess_exec(
        "python3", "-c", WRITES_ON.format(stream=stream), stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=1024
    )
    # So much that nothing more is read of it.
    async with asyncio.timeout(PATIENCE):
        await (process.stdout if stream == "stdout" else process.stderr).readexactly(100_000)  # type: ignore[union-attr]

    async with asyncio.timeout(PATIENCE):
        code = await end_process(process)

    assert code == -9


async def test_a_process_whose_output_another_one_holds_ends() -> None:
    process = await asyncio.create_subprocess_exec("python3", "-c", HANDS_ON, stdout=PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        await process.stdout.readline()

    async with asyncio.timeout(PATIENCE):
        code = await end_process(process)

    assert code == -9


async def test_one_that_has_ended_says_how() -> None:
    process = await asyncio.create_subprocess_exec("python3", "-c", "raise SystemExit(3)", stdout=PIPE)
    async with asyncio.timeout(PATIENCE):
        await process.wait()

    assert await end_process(process) == 3
