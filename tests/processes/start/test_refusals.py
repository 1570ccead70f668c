"""A start that cannot succeed ends with one line that says what to change, and no traceback."""

import argparse
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from atrium.cli import _parser
from atrium.kit.crypto.keys import Keyring
from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import migrate, read_migrations
from tests.postgres import fresh_database, on_database, run_as_owner
from tests.support.processes import Finished, free_port, run_atrium, server_settings, serving
from tests.support.servers import SECRET

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
    assert said[0].startswith("atrium: "), ended.output


@pytest.fixture(scope="module")
async def sealed() -> AsyncIterator[str]:
    """A database whose secrets were sealed with the tests' key."""
    async with fresh_database() as url:
        async with serving(url):
            pass
        yield url


@pytest.fixture(scope="module")
async def newer() -> AsyncIterator[str]:
    """A database that a later program migrated."""
    later = "INSERT INTO schema_migrations (number, name, checksum) SELECT max(number) + 1, 'later', 'x' FROM schema_migrations"
    async with fresh_database() as url:
        await run_as_owner(url, later)
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

    assert "the key this database's secrets were sealed with is not here" in said
    assert not (tmp_path / "secret.key").exists()


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


async def test_a_host_that_is_none_is_named() -> None:
    ended = await run_atrium("up", "--host", "nowhere.invalid", "--port", "0")

    assert_is_one_line(ended)
    assert "cannot listen on nowhere.invalid:0" in ended.output
    assert "--host" in ended.output


async def test_a_schema_that_is_behind_is_not_served_when_migrating_is_off() -> None:
    async with fresh_database(migrated=False) as url:
        said = await refused(database_url=url, secret_key=SECRET, migrate=0)

    assert "the schema is behind (0001_foundation" in said
    assert "atrium migrate" in said


async def test_a_value_that_cannot_be_read_is_named() -> None:
    said = await refused(header_timeout="soon")

    assert "SERVICE_HEADER_TIMEOUT='soon' cannot be read: it takes int" in said


@pytest.mark.parametrize("command", ["up", "serve"])
@pytest.mark.parametrize("port", ["99999", "-1", "http", "80.0"])
async def test_a_port_that_is_none_is_refused_by_name(command: str, port: str) -> None:
    ended = await run_atrium(command, f"--port={port}")

    assert ended.code == 2
    assert f"argument --port: {port!r} is not a port: it takes a number from 0 to 65535" in ended.output
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("s3_port", "99999", "SERVICE_S3_PORT='99999' cannot be read: it takes int of at least 0 and at most 65535"),
        ("plugins_dir", "/nowhere/plugins", "SERVICE_PLUGINS_DIR='/nowhere/plugins' is not a folder"),
        ("default_locale", "xx", "SERVICE_DEFAULT_LOCALE='xx' is not known: it takes en|es|is|nl"),
        ("provision_token", "short", "SERVICE_PROVISION_TOKEN is too short: it takes at least 32 characters"),
        ("base_url", "atrium.example", "SERVICE_BASE_URL='atrium.example' must begin with http:// or https://"),
        (
            "data_dir",
            "/etc/hostname",
            "SERVICE_DATA_DIR='/etc/hostname' is not a folder that this account may write to",
        ),
        ("s3_bucket", "Our_Files", "SERVICE_S3_BUCKET='Our_Files' is not a bucket's name"),
        (
            "trusted_proxies",
            "10.0.0.0/8, proxy",
            "SERVICE_TRUSTED_PROXIES: 'proxy' is neither an address nor a network",
        ),
        ("blob_store", "tape", "SERVICE_BLOB_STORE=tape: the stores are rs3, s3"),
        ("secret_key", "too short", "each key in SERVICE_SECRET_KEY must have at least 32 characters"),
        ("tls_certificate", "/nowhere.pem", "SERVICE_TLS_CERTIFICATE"),
    ],
)
async def test_nothing_is_migrated_for_settings_that_cannot_be_used(setting: str, value: str, sentence: str) -> None:
    async with fresh_database(migrated=False) as url:
        ended = await run_atrium("serve", "--port=0", **server_settings(url) | {setting: value})
        tables = await run_as_owner(url, "SELECT FROM pg_tables WHERE schemaname = 'public'")

    assert_is_one_line(ended)
    assert ended.code == 2
    assert sentence in ended.output
    assert tables == []


async def test_several_settings_that_cannot_be_used_are_named_at_once() -> None:
    ended = await run_atrium("up", default_locale="xx", plugins_dir="/nowhere", data_dir="/nonexistent/never-made")

    assert ended.code == 2
    assert ended.output.splitlines()[0] == "atrium: refusing to start:"
    assert "SERVICE_DEFAULT_LOCALE" in ended.output
    assert "SERVICE_PLUGINS_DIR" in ended.output
    assert "Starting PostgreSQL" not in ended.output


@pytest.mark.parametrize("command", ["serve", "work", "migrate"])
async def test_a_schema_is_not_migrated_by_a_process_with_the_wrong_key(command: str, tmp_path: Path) -> None:
    behind = tmp_path / "migrations"
    shutil.copytree(shipped_path("migrations"), behind)
    for path in sorted(behind.glob("*.sql"))[20:]:
        path.unlink()
    async with fresh_database(migrated=False) as url:
        await migrate(url, behind)
        await run_as_owner(
            url, "INSERT INTO key_check (sealed) VALUES ($1)", Keyring(SECRET).seal(b"atrium", "instance|key_check")
        )

        ended = await run_atrium(command, **server_settings(url, secret_key=OTHER))
        applied = await run_as_owner(url, "SELECT max(number) FROM schema_migrations")

    assert_is_one_line(ended)
    assert "is not the key this database's secrets were sealed with" in ended.output
    assert applied[0][0] == 20


async def test_a_release_step_without_the_key_migrates() -> None:
    async with fresh_database(migrated=False) as url:
        first = await run_atrium("migrate", database_owner_url=url, data_dir="/nonexistent/never-made")
        second = await run_atrium("migrate", database_owner_url=url, data_dir="/nonexistent/never-made")

    assert (first.code, second.code) == (0, 0), first.output + second.output
    assert first.output.startswith("applied 0001_foundation\n")
    assert second.output == "nothing to do: the schema is at head\n"


async def test_a_name_that_is_no_setting_is_said_at_every_start_with_the_one_that_was_meant(sealed: str) -> None:
    settings = server_settings(sealed, secert_key="x", nonsense=1)
    async with serving(sealed, secert_key="x", nonsense=1) as (server,):
        said = server.output
    migrated = await run_atrium("migrate", **settings)
    checked = await run_atrium("check", **settings)

    meant = "SERVICE_SECERT_KEY is not a setting; did you mean SERVICE_SECRET_KEY?"
    unknown = "SERVICE_NONSENSE is not a setting; `atrium settings` lists them all"
    assert f"atrium: {meant}\n" in said
    assert f"atrium: {unknown}\n" in said
    assert (migrated.code, f"atrium: {meant}\n" in migrated.output) == (0, True)
    assert (checked.code, f"problem: {unknown}\nproblem: {meant}\n" in checked.output) == (1, True)


async def test_check_names_what_would_stop_a_start(sealed: str) -> None:
    ended = await run_atrium("check", **server_settings(sealed, secret_key=OTHER, default_locale="xx"))
    wrong_key = await run_atrium("check", **server_settings(sealed, secret_key=OTHER))
    well = await run_atrium("check", **server_settings(sealed))

    assert (ended.code, "problem: SERVICE_DEFAULT_LOCALE='xx' is not known" in ended.output) == (1, True)
    assert (wrong_key.code, "problem: SERVICE_SECRET_KEY" in wrong_key.output) == (1, True)
    assert (well.code, "problem" in well.output) == (0, False), well.output


WITH_DATABASE = (
    ("migrate",), ("check",), ("serve", "--port=0"), ("work",), ("up", "--port=0"), ("audit", "verify"), ("audit", "heads"),
    ("audit", "export"), ("keys", "reseal"), ("blobs", "verify"), ("users", "reset", "ada"), ("backup", "create", "backups"),
    ("search", "verify"), ("search", "rebuild"), ("company", "export", "acme", "archive"), ("company", "import", "archive"),
    ("company", "release", "acme", "--receipt=receipt"), ("company", "stay", "acme"), ("quotas", "verify"),
)  # fmt: skip
# What reads no database, or says what it found of it as one of many things; a restore is shown by tests/domains/backups.
ELSEWHERE = {
    ("doctor",),
    ("routes",),
    ("openapi",),
    ("settings",),
    ("backup", "list"),
    ("backup", "prune"),
    ("backup", "verify"),
    ("restore",),
}


def every_command(parser: argparse.ArgumentParser, *words: str) -> Iterator[tuple[str, ...]]:
    """Every command that the program knows."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield words
    for action in below:
        for word, one in action.choices.items():
            yield from every_command(one, *words, word)


def test_no_command_is_left_out() -> None:
    known = set(every_command(_parser()))

    shown = {one for one in known if any(command[: len(one)] == one for command in WITH_DATABASE)}
    assert (known - shown, shown & ELSEWHERE) == (ELSEWHERE, set())


async def test_a_checkup_names_both_schemas(newer: str) -> None:
    ours = len(read_migrations())

    ended = await run_atrium("doctor", **server_settings(newer))

    assert ended.code == 1
    assert f"schema is at {ours + 1} and this program knows {ours}" in ended.output


@pytest.mark.parametrize("command", WITH_DATABASE, ids=" ".join)
async def test_a_schema_newer_than_the_program_is_refused_by_every_command(
    newer: str, command: tuple[str, ...]
) -> None:
    ours = len(read_migrations())

    ended = await run_atrium(*command, **server_settings(newer, transfer_key="k" * 32))

    assert_is_one_line(ended)
    assert ended.code == 2
    assert f"the database's schema is at {ours + 1} and this program knows {ours}" in ended.output


@pytest.mark.parametrize("command", [("migrate",), ("check",), ("serve", "--port=0")], ids=" ".join)
async def test_a_schema_that_other_migrations_made_is_refused(command: tuple[str, ...]) -> None:
    async with fresh_database() as url:
        await run_as_owner(url, "UPDATE schema_migrations SET checksum = 'x' WHERE number = 3")

        ended = await run_atrium(*command, **server_settings(url))

    assert_is_one_line(ended)
    assert (ended.code, "migration 0003_" in ended.output) == (2, True)
    assert "was changed after it was applied" in ended.output


@pytest.mark.parametrize("command", [("audit", "verify"), ("keys", "reseal"), ("blobs", "verify")], ids=" ".join)
async def test_a_command_on_a_schema_that_is_behind_asks_for_the_migration(command: tuple[str, ...]) -> None:
    async with fresh_database(migrated=False) as url:
        ended = await run_atrium(*command, **server_settings(url))

    assert_is_one_line(ended)
    assert "run `atrium migrate` first" in ended.output


@pytest.mark.parametrize("command", [("migrate",), ("audit", "heads"), ("blobs", "verify")], ids=" ".join)
async def test_a_command_without_a_database_names_both_ways_to_one(command: tuple[str, ...], tmp_path: Path) -> None:
    ended = await run_atrium(*command, data_dir=tmp_path)

    assert_is_one_line(ended)
    assert f"SERVICE_DATABASE_URL is not set, and no `atrium up` is running on {tmp_path}" in ended.output


@pytest.mark.parametrize("command", [("migrate",), ("check",), ("audit", "heads"), ("blobs", "verify")], ids=" ".join)
async def test_a_command_that_cannot_reach_the_database_says_so(command: tuple[str, ...]) -> None:
    ended = await run_atrium(*command, **server_settings(f"postgres://root@127.0.0.1:{free_port()}/atrium"))

    assert_is_one_line(ended)
    assert (ended.code, "the database cannot be reached" in ended.output) == (1, True)


@pytest.mark.parametrize("command", [("keys", "reseal"), ("audit", "heads")], ids=" ".join)
async def test_a_command_on_secrets_makes_no_key(sealed: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    without = await run_atrium(*command, **server_settings(sealed, data_dir=tmp_path) | {"secret_key": ""})
    short = await run_atrium(*command, **server_settings(sealed, secret_key="short"))
    wrong = await run_atrium(*command, **server_settings(sealed, secret_key=OTHER))

    for ended in (without, short, wrong):
        assert_is_one_line(ended)
    assert "the instance's key is not here: set SERVICE_SECRET_KEY" in without.output
    assert "at least 32 characters" in short.output
    assert "is not the key this database's secrets were sealed with" in wrong.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b'{"org_id": "x", "seq": 1, "hash": ""}', b'{"half', b"\xff"])
async def test_a_file_of_heads_that_cannot_be_read_is_named(sealed: str, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "heads"
    if content is not None:
        path.write_bytes(content)

    ended = await run_atrium("audit", "verify", "--heads", str(path), **server_settings(sealed))

    assert_is_one_line(ended)
    assert f"{path} cannot be read" in ended.output


@pytest.mark.parametrize("arguments", [("nonsense",), ("audit",), ("audit", "nonsense"), ("blobs",), ("keys",)])
async def test_a_wrong_command_is_answered_with_names(arguments: tuple[str, ...]) -> None:
    ended = await run_atrium(*arguments)

    assert ended.code == 2
    assert ended.output.startswith("usage: atrium ")
    assert "COMMAND" in ended.output.splitlines()[-1]


async def test_a_certificate_that_cannot_be_used_refuses_to_serve(sealed: str, tmp_path: Path) -> None:
    said = await refused(database_url=sealed, secret_key=SECRET, tls_certificate=tmp_path / "nowhere.pem")

    assert "SERVICE_TLS_CERTIFICATE" in said
