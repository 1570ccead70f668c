"""Programs in a sandbox: bubblewrap and seccomp, no network, no files but those shown, limits of memory, threads and time.

One process with threads, which cannot begin others. Where a machine has no working sandbox, nothing is started in one.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from atrium.kit.isolation.processes import end_process
from atrium.kit.isolation.syscalls import FilterUnavailable, compiled_filter

# The user inside; also outside when the server runs as root, because limits on threads do not bind root.
_USER = 65_534
_COMMANDS = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux", "nice": "coreutils"}
_PATH = "/usr/local/bin:/usr/bin:/bin"
_PROBE_SECONDS, _PROBE_AGAIN = 10, 60
_SCRATCH = "/tmp"  # noqa: S108 a file system of its own inside, which ends with the program
_SEES_ALWAYS = ("/etc/ld.so.cache", "/etc/alternatives")


class SandboxUnavailable(Exception):
    """This machine cannot confine a program; the message says why and what to do."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a program may take at most: bytes of memory and of its folder /tmp, open files, threads, seconds of processor."""

    memory: int
    disk: int = 16 << 20
    files: int = 64
    threads: int = 64
    seconds: int | None = None
    nice: int = 0


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A command; `shown` are folders and files that it can read besides /usr, and where it finds them.

    A server that runs as root starts it as another user, unless it `stays`: as root it can be shown what only root can read.
    """

    command: tuple[str, ...]
    limits: Limits
    shown: tuple[tuple[Path, str], ...] = ()
    folder: str = "/"
    stays: bool = False


_PROBE = Program(command=("/usr/bin/true",), limits=Limits(memory=64 << 20))


class SandboxedProcess:
    """A program that runs in the sandbox."""

    def __init__(self, process: Process, facts: int) -> None:
        self.process, self._facts, self._group, self._killed = process, facts, 0, False

    @property
    def is_alive(self) -> bool:
        """Whether it was not ended and has not ended by itself."""
        return not self._killed and self.process.returncode is None

    def pause(self) -> bool:
        """Let it stand still, all threads of it, until it is resumed; only after it has said something. False when it has ended."""
        return self._signal(signal.SIGSTOP)

    def resume(self) -> bool:
        """Let it go on."""
        return self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it now: its namespace ends with the process that holds it."""
        self._killed = True
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._close()

    async def end(self) -> int:
        """End it and wait until it is gone; its exit code."""
        self.kill()
        return await end_process(self.process)

    def _signal(self, number: signal.Signals) -> bool:
        group = self.is_alive and (self._group or self._read_group())
        if not group:
            return False
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return False
        return True

    def _read_group(self) -> int:
        """The process group of the program: bubblewrap tells it before the program begins."""
        with contextlib.suppress(msgspec.DecodeError, BlockingIOError, OSError):
            self._group = msgspec.json.decode(os.read(self._facts, 4096), type=dict[str, int]).get("child-pid", 0)
        self._close()
        return self._group

    def _close(self) -> None:
        if self._facts >= 0:
            os.close(self._facts)
            self._facts = -1


class Sandbox:
    """Starts programs in the sandbox; whether this machine has a working one is found out at the first need.

    One that works is not asked about again, one that does not after a minute: the machine may only have been busy.
    """

    def __init__(self) -> None:
        self._probed: str | None = None
        self._probed_at = 0.0

    async def reason(self) -> str:
        """Why there is no working sandbox here; empty when there is one."""
        if self._probed is None or (self._probed and time.monotonic() > self._probed_at + _PROBE_AGAIN):
            self._probed = await self._probe()
            self._probed_at = time.monotonic()
        return self._probed

    async def run(self, program: Program, stdin: IO[bytes]) -> Process:
        """Start a program that reads a file and ends by itself."""
        await self._require()
        return await _spawn(program, stdin=stdin, stderr=PIPE)

    async def start(self, program: Program, *, stderr: int, line: int) -> SandboxedProcess:
        """Start a program to talk to: it can be paused, and its standard output is read in lines of at most `line` bytes."""
        await self._require()
        facts, telling = os.pipe()
        os.set_blocking(facts, False)
        try:
            return SandboxedProcess(await _spawn(program, stdin=PIPE, stderr=stderr, line=line, telling=telling), facts)
        except BaseException:
            os.close(facts)
            raise
        finally:
            os.close(telling)

    async def _require(self) -> None:
        if reason := await self.reason():
            raise SandboxUnavailable(reason)

    async def _probe(self) -> str:
        if sys.platform != "linux":
            return "only Linux has it"
        for command, package in _COMMANDS.items():
            if shutil.which(command, path=_PATH) is None:
                return f"the command {command} is missing; install {package}"
        try:
            process = await _spawn(_PROBE, stdin=DEVNULL, stderr=PIPE)
            async with asyncio.timeout(_PROBE_SECONDS):
                _, complaint = await process.communicate()
        except (FilterUnavailable, OSError) as error:
            return str(error)
        except TimeoutError:
            await end_process(process)
            return f"a probe took more than {_PROBE_SECONDS} s"
        if process.returncode == 0:
            return ""
        said = complaint.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"]
        return f"bubblewrap cannot start: {said[-1][:300]}"


def is_readable_inside(path: Path) -> bool:
    """Whether the user of the sandbox can read a file or folder: always the server's own, and for root what all users can read."""
    if os.geteuid() != 0:
        return os.access(path, os.R_OK)
    try:
        return all(one.stat().st_mode & 0o001 for one in path.resolve().parents) and bool(path.stat().st_mode & 0o004)
    except OSError:
        return False


async def _spawn(
    program: Program, *, stdin: int | IO[bytes], stderr: int, line: int = 65_536, telling: int | None = None
) -> Process:
    rules = _filled(compiled_filter())
    passed = (rules,) if telling is None else (rules, telling)
    try:
        return await asyncio.create_subprocess_exec(
            *_command(program, rules, telling), stdin=stdin, stdout=PIPE, stderr=stderr, limit=line,
            env={}, cwd="/", pass_fds=passed, start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(rules)


def _filled(content: bytes) -> int:
    """The reading end of a pipe that holds these bytes and no more."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(content)
    return reading


def _command(program: Program, rules: int, telling: int | None) -> list[str]:
    return [
        *_outside(program),
        *_wrapped(program, rules, telling),
        "--",
        *_limited(program.limits),
        *program.command,
    ]


def _outside(program: Program) -> Iterator[str]:
    if program.limits.nice:
        yield from ("/usr/bin/nice", "-n", str(program.limits.nice))
    if os.geteuid() == 0 and not program.stays:
        yield from ("/usr/bin/setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups")


def _wrapped(program: Program, rules: int, telling: int | None) -> Iterator[str]:
    yield from (
        "/usr/bin/bwrap",
        "--unshare-user",
        "--unshare-all",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
    )
    yield from ("--cap-drop", "ALL", "--uid", str(_USER), "--gid", str(_USER), "--hostname", "sandbox")
    yield from ("--clearenv", "--setenv", "PATH", _PATH, "--setenv", "LANG", "C.UTF-8")
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in ("bin", "lib", "lib64"):
        yield from ("--symlink", f"usr/{folder}", f"/{folder}")
    for path in _SEES_ALWAYS:
        yield from ("--ro-bind-try", path, path)
    # Not bubblewrap's own /dev: that one has a /dev/shm without a limit, and /dev/zero is memory that no limit counts.
    for device in ("null", "urandom", "random"):
        yield from ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    yield from ("--size", str(program.limits.disk), "--tmpfs", _SCRATCH)
    for source, place in program.shown:
        yield from ("--ro-bind", str(source), place)
    yield from ("--remount-ro", "/", "--chdir", program.folder)
    yield from ("--seccomp", str(rules))
    if telling is not None:
        yield from ("--info-fd", str(telling))


def _limited(limits: Limits) -> Iterator[str]:
    """Set inside, where threads are counted by themselves; outside, those of the server would count as well."""
    yield "/usr/bin/prlimit"
    yield from (f"--data={limits.memory}", f"--nofile={limits.files}", f"--nproc={limits.threads}", "--core=0")
    yield from (f"--fsize={limits.disk}", "--memlock=65536", "--msgqueue=0", "--stack=8388608")
    if limits.seconds is not None:
        yield f"--cpu={limits.seconds}"
    yield "--"
