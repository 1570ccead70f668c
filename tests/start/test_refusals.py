"""A start that cannot succeed ends with one line that says what to change, and no traceback."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.houses import SECRET
from tests.postgres import fresh_database, on_database
from tests.processes import Finished, free_port, run_atrium, serving

OTHER = "another key that nothing here was ever sealed with"


async def refused(port: int | None = None, **settings: Any) -> str:
    """What `atrium serve` says before it gives up."""
    ended = await run_atrium("serve", "--port", str(port or free_port()), **settings)
    assert_is_one_line(ended)
    return ended.output


def assert_is_one_line(ended: Finished) -> None:
    said = [line for line in ended.output.splitlines() if not line.startswith("{")]
    assert ended.code in (1, 2), ended.output
    assert len(said) == 1, ended.output


@pytest.fixture(scope="module")
async def sealed() -> AsyncIterator[str]:
    """A database whose secrets were sealed with the tests' key."""
    async with fresh_database() as url:
        async with serving(url):
            pass
        yield url


async def test_without_a_database_it_names_the_setting_and_the_easier_command() -> None:
    said = await refused()

    assert "SERVICE_DATABASE_URL is not set" in said
    assert "atrium up" in said


async def test_a_wrong_key_refuses_to_serve(sealed: str) -> None:
    said = await refused(database_url=sealed, secret_key=OTHER)

    assert "SERVICE_SECRET_KEY" in said
    assert "is not the key this database's secrets were sealed with" in said


async def test_a_generated_key_does_not_replace_a_lost_one(sealed: str, tmp_path: Path) -> None:
    said = await refused(database_url=sealed, data_dir=tmp_path)

    assert "is not the key this database's secrets were sealed with" in said


async def test_a_short_key_refuses_to_serve(sealed: str) -> None:
    said = await refused(database_url=sealed, secret_key="too short")

    assert "at least 32 characters" in said


async def test_a_database_server_that_is_not_there_is_named() -> None:
    said = await refused(database_url=f"postgres://root@127.0.0.1:{free_port()}/atrium", secret_key=SECRET)

    assert "the database cannot be reached" in said
    assert "SERVICE_DATABASE_URL" in said


async def test_a_database_that_does_not_exist_is_named() -> None:
    said = await refused(database_url=on_database("atrium_nobody_made_this"), secret_key=SECRET)

    assert 'database "atrium_nobody_made_this" does not exist' in said


async def test_the_password_in_the_address_is_never_printed() -> None:
    said = await refused(database_url=f"postgres://root:hunter22@127.0.0.1:{free_port()}/atrium", secret_key=SECRET)

    assert "hunter22" not in said


async def test_an_address_that_is_none_is_named() -> None:
    said = await refused(database_url="mysql://somewhere/else", secret_key=SECRET)

    assert "SERVICE_DATABASE_URL" in said


async def test_a_taken_port_is_named(sealed: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = await refused(port, database_url=sealed, secret_key=SECRET)

    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in said
    assert "--port" in said


async def test_a_schema_that_is_behind_is_not_served_when_migrating_is_off() -> None:
    async with fresh_database(migrated=False) as url:
        said = await refused(database_url=url, secret_key=SECRET, migrate=0)

    assert "the schema is behind (0001_foundation" in said
    assert "atrium migrate" in said


async def test_a_value_that_cannot_be_read_is_named() -> None:
    said = await refused(header_timeout="soon")

    assert "SERVICE_HEADER_TIMEOUT='soon' cannot be read: it takes int" in said


async def test_a_certificate_that_cannot_be_used_refuses_to_serve(sealed: str, tmp_path: Path) -> None:
    said = await refused(database_url=sealed, secret_key=SECRET, tls_certificate=tmp_path / "nowhere.pem")

    assert "SERVICE_TLS_CERTIFICATE" in said
