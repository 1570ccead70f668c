"""Guests that try to get out or to take too much: each fails its own call only, is back within a second, and reaches nothing."""

import asyncio
import errno
import os
import platform
import resource
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.domains.sandbox.guests import call, value_of
from tests.support.client import Client
from tests.support.machine import slowness

# Ends the process of the guest, and with it this call alone: what the refusal says.
BREAKING: dict[str, str] = {
    "spin": "took more than 5 seconds",
    "flood": "more than 1048576 bytes",
    "flood_lines": "more than 1000 requests",
    "flood_notices": "more than 1000 requests",
    "flood_errors": "took more than 5 seconds",
    "leave": "ended without an answer",
    "garbage": "not JSON-RPC",
    "malformed": "not JSON-RPC",
    "long_line": "more than 1048576 bytes",
    "answer_others": "was not asked",
}


@pytest.fixture
async def outside() -> AsyncIterator[tuple[int, str]]:
    """A port and a path at which a guest could reach this machine."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    path = f"/tmp/atrium-socket-{os.getpid()}"
    port = await asyncio.start_server(greet, "127.0.0.1", 0)
    named = await asyncio.start_unix_server(greet, path)
    abstract = await asyncio.start_unix_server(greet, "\0atrium-abstract")
    os.chmod(path, 0o777)
    try:
        yield port.sockets[0].getsockname()[1], path
    finally:
        for server in (port, named, abstract):
            server.close()
        Path(path).unlink(missing_ok=True)


@pytest.mark.parametrize("tool", BREAKING)
async def test_a_guest_that_breaks_fails_its_own_call_and_is_back(
    alice: Client, bob: Client, stranger: Client, tool: str
) -> None:
    await broken_by(tool, alice, bob, stranger)


@pytest.mark.proof
@pytest.mark.parametrize("tool", BREAKING)
async def test_a_guest_that_broke_is_back_within_a_second(
    alice: Client, bob: Client, stranger: Client, tool: str
) -> None:
    assert await broken_by(tool, alice, bob, stranger) < 1 * slowness()


async def broken_by(tool: str, alice: Client, bob: Client, stranger: Client) -> float:
    """One guest breaks, and nobody else's; seconds until it answers again."""
    await asyncio.gather(*(value_of(person, "odd", "echo") for person in (alice, bob, stranger)))
    others = asyncio.gather(*(value_of(person, "odd", "slow", seconds=0.3) for person in (bob, stranger)))

    broken = await call(alice, "odd", tool)
    began = time.perf_counter()
    after = await value_of(alice, "odd", "echo", words="again")
    took = time.perf_counter() - began

    assert broken.status == 502
    assert BREAKING[tool] in broken["detail"]
    assert after == {"words": "again"}
    assert await others == ["slept", "slept"]
    return took


async def test_memory_has_a_limit_that_nothing_gets_around(alice: Client) -> None:
    hogged = await call(alice, "odd", "hog")
    found = await value_of(alice, "odd", "hog_shared")

    assert (hogged.status, "MemoryError" in hogged["detail"]) == (502, True)
    assert found["anonymous"].startswith("PermissionError")
    assert {name: found[name] for name in ("growing", "private", "system_v", "memfd")} == dict.fromkeys(
        ("growing", "private", "system_v", "memfd"), False
    )


@pytest.mark.proof
async def test_a_guest_that_takes_all_it_can_takes_little(alice: Client) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    await call(alice, "odd", "hog")
    await value_of(alice, "odd", "hog_shared")

    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 600 << 10)


async def test_a_guest_has_one_process_and_few_threads(alice: Client) -> None:
    assert all(one.startswith("PermissionError") for one in await value_of(alice, "odd", "fork_bomb"))
    assert await value_of(alice, "odd", "threads") < 64


async def test_a_guest_finds_no_process_to_end(alice: Client) -> None:
    assert (await value_of(alice, "odd", "kill_all")).startswith("ProcessLookupError")


async def test_a_guest_writes_to_nothing_but_its_own_small_folder(alice: Client) -> None:
    found = await value_of(alice, "odd", "disk")

    assert "No space left" in found.pop("tmp")
    assert all("Read-only" in said or "No such file" in said for said in found.values()), found


async def test_a_guest_reaches_no_network_and_no_socket(alice: Client, outside: tuple[int, str]) -> None:
    with socket.create_connection(("127.0.0.1", outside[0])):
        pass

    found = await value_of(alice, "odd", "sockets", port=outside[0], path=outside[1])

    assert len(found) == 8
    assert all(said.startswith("PermissionError") for said in found.values()), found


async def test_a_guest_makes_no_dangerous_system_call(alice: Client) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the numbers of the calls are those of x86_64")

    found = await value_of(alice, "odd", "kernel")

    assert found.pop("clone3") == [-1, errno.ENOSYS]
    assert found == {name: [-1, errno.EPERM] for name in found}


async def test_a_guest_sees_no_file_process_or_variable_of_the_server(alice: Client, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    secret.chmod(0o644)
    paths = [
        str(secret),
        "/etc/passwd",
        "/etc/hostname",
        "/proc/1/environ",
        "/proc/self/status",
        f"/proc/{os.getpid()}/environ",
        "/root/.bashrc",
    ]

    found: dict[str, Any] = await value_of(alice, "odd", "files", paths=paths)

    assert all("No such file" in said or "Permission" in said for said in found["read"].values()), found["read"]
    assert set(found["root"]) <= {"bin", "dev", "etc", "guest", "lib", "lib64", "tmp", "usr"}
    assert found["proc"].startswith("FileNotFoundError")
    assert set(found["environ"]) <= {"PATH", "LANG", "PWD", "LC_CTYPE"}


async def test_a_guest_is_nobody_and_holds_no_file_of_the_server(alice: Client) -> None:
    found = await value_of(alice, "odd", "identity")

    assert (found["uid"], found["gid"], found["host"]) == (65534, 65534, "sandbox")
    assert found["open"] == []
