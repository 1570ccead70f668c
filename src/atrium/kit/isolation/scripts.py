"""Scripts of the server's own, each run once on one file, in the sandbox: a hostile file can kill that process, never the server."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from functools import lru_cache
from pathlib import Path
from typing import IO

import msgspec

from atrium.kit.isolation.processes import end_process
from atrium.kit.isolation.sandbox import Limits, Program, Sandbox, is_readable_inside

_LONGEST_COMPLAINT = 400


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A file that Python runs with this environment's libraries and nothing of Atrium's.

    It takes at most so many seconds, bytes of memory and bytes of output. Where a machine has no sandbox, only what the script itself
    does with its arguments holds it to that, and the clock.
    """

    path: Path
    arguments: tuple[str, ...]
    seconds: int
    memory: int
    output: int


class ScriptResult(msgspec.Struct, frozen=True):
    """How a script ended, and what it wrote to standard output and to standard error."""

    code: int
    output: bytes
    complaint: str

    @property
    def signal(self) -> int:
        """The signal that stopped it; 0 when it ended by itself."""
        # Bubblewrap tells a signal as a shell does.
        return max(0, -self.code if self.code < 0 else self.code - 128)


class ScriptTookTooLong(Exception):
    """The script was still running when its time was up."""


class RunningScript:
    """A script under way, which its caller ends."""

    def __init__(self, script: Script, process: Process) -> None:
        self._script, self._process = script, process

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def finish(self) -> ScriptResult:
        """What came of it; raises ScriptTookTooLong."""
        process = self._process
        try:
            async with asyncio.timeout(self._script.seconds):
                output, complaint = await asyncio.gather(
                    _at_most(process.stdout, self._script.output), _at_most(process.stderr, _LONGEST_COMPLAINT)
                )
                code = await process.wait()
        except TimeoutError as error:
            raise ScriptTookTooLong(f"took longer than {self._script.seconds} s") from error
        return ScriptResult(code, output, complaint.decode("utf-8", "replace").strip())

    async def end(self) -> None:
        """End it if it has not ended, and wait until it is gone."""
        await end_process(self._process)


async def start_script(script: Script, stdin: IO[bytes], sandbox: Sandbox) -> RunningScript:
    """Begin a script, which sees what it reads and itself alone."""
    if await sandbox.reason():
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(script.path), *script.arguments,
            stdin=stdin, stdout=PIPE, stderr=PIPE, cwd="/", env={}, start_new_session=True,
        )  # fmt: skip
        return RunningScript(script, process)
    place = f"/run/{script.path.name}"
    shown, stays = _shown(script.path, place)
    limits = Limits(memory=script.memory, seconds=script.seconds)
    command = (sys.executable, "-I", place, *script.arguments)
    program = Program(command=command, limits=limits, shown=shown, stays=stays)
    return RunningScript(script, await sandbox.run(program, stdin))


async def run_script(script: Script, stdin: IO[bytes], sandbox: Sandbox) -> ScriptResult:
    """Run a script to its end; raises ScriptTookTooLong."""
    running = await start_script(script, stdin, sandbox)
    try:
        return await running.finish()
    finally:
        await running.end()


@lru_cache(maxsize=8)
def _shown(path: Path, place: str) -> tuple[tuple[tuple[Path, str], ...], bool]:
    """The script and the Python that runs it, with its libraries, and whether only the server's own user can read these."""
    # What is below /usr is there anyway.
    pythons = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix) if not Path(prefix).is_relative_to("/usr")}
    shown = ((path, place), *((prefix, str(prefix)) for prefix in sorted(pythons)))
    return shown, not all(is_readable_inside(source) for source, _ in shown)


async def _at_most(stream: asyncio.StreamReader | None, most: int) -> bytes:
    if stream is None:
        return b""
    parts, size = [], 0
    while size < most and (part := await stream.read(min(65_536, most - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
