"""The units: systemd finds little to object to, is told what happens, and notices a loop that stands still."""

import asyncio
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from atrium.boot.supervisor import Supervisor
from atrium.seams.settings import read_supervision
from tests.postgres import fresh_database
from tests.support.patience import PATIENCE
from tests.support.processes import ATRIUM, ROOT, Process, environment, free_port, server_settings, start

UNITS = sorted((ROOT / "deploy").glob("*.service"))
MOST_EXPOSED = 3.0


class Manager:
    """What a service manager hears."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self.path))
        self._socket.setblocking(False)
        self.heard: list[str] = []

    def listen(self) -> list[str]:
        while True:
            try:
                self.heard.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return self.heard

    async def until(self, word: str, process: Process, seconds: float = PATIENCE) -> None:
        deadline = time.monotonic() + seconds
        while word not in self.listen():
            assert time.monotonic() < deadline, f"{word} was not heard: {process.output}"
            await asyncio.sleep(0.02)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager() -> Iterator[Manager]:
    with tempfile.TemporaryDirectory(prefix="atrium-test-") as folder:
        manager = Manager(Path(folder))
        try:
            yield manager
        finally:
            manager.close()


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (package systemd)"
)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_the_unit_well_shut(unit: Path, tmp_path: Path) -> None:
    def exposure(path: Path) -> float:
        said = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager", str(path)], capture_output=True, text=True, timeout=PATIENCE
        )  # fmt: skip
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", said.stdout)
        assert found, said.stdout + said.stderr
        return float(found[1])

    assert exposure(unit) <= MOST_EXPOSED

    open_to_all = tmp_path / unit.name
    open_to_all.write_text(unit.read_text().replace("SystemCallFilter=", "#").replace("CapabilityBoundingSet=", "#"))
    assert exposure(open_to_all) > MOST_EXPOSED


def test_there_is_a_unit_for_the_server_and_one_for_a_worker() -> None:
    said = {unit.name: unit.read_text() for unit in UNITS}

    assert set(said) == {"atrium.service", "atrium-work.service"}
    assert " serve " in said["atrium.service"]
    assert "atrium work\n" in said["atrium-work.service"]
    for text in said.values():
        assert {"Type=notify", "WatchdogSec=60", "Restart=always", "DynamicUser=yes"} <= set(text.splitlines())


@pytest.mark.parametrize("command", ["serve", "work"])
async def test_a_process_says_when_it_is_ready_alive_and_stopping(
    command: str, manager: Manager, tmp_path: Path
) -> None:
    async with fresh_database() as url:
        seen = environment(**server_settings(url, data_dir=tmp_path))
        seen |= {"NOTIFY_SOCKET": str(manager.path), "WATCHDOG_USEC": "200000"}
        port = ("--port", str(free_port())) if command == "serve" else ()
        process = start((*ATRIUM, command, *port), seen, tmp_path)
        try:
            await manager.until("READY=1", process)
            await manager.until("WATCHDOG=1", process)
            assert await process.stop(signal.SIGTERM) == 0
        finally:
            process.clean_up()

    heard = manager.listen()
    assert heard[0] == "READY=1"
    assert "STOPPING=1" in heard


async def test_a_loop_that_stands_still_says_nothing(manager: Manager) -> None:
    supervisor = Supervisor({"NOTIFY_SOCKET": str(manager.path), "WATCHDOG_USEC": "40000"})
    supervisor.ready()
    await asyncio.sleep(0.1)
    before = manager.listen().count("WATCHDOG=1")

    time.sleep(0.2)
    stuck = manager.listen().count("WATCHDOG=1")
    await asyncio.sleep(0.1)

    assert before >= 2
    assert stuck == before
    assert manager.listen().count("WATCHDOG=1") > stuck


def test_without_a_manager_nothing_is_said() -> None:
    assert read_supervision(7, {}) == ("", 0.0)
    assert read_supervision(7, {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}) == (
        "/x",
        60.0,
    )
    assert read_supervision(7, {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}) == ("/x", 0.0)
