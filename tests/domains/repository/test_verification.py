"""`atrium blobs verify`: what it finds, and what it says."""

import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.domains.repository.test_api import put
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.processes import run_atrium, server_settings
from tests.support.servers import open_application, settings_for


async def test_sound_blobs_are_counted_and_nothing_is_wrong(tmp_path: Path) -> None:
    async with fresh_database() as url:
        await _filled(url, tmp_path)

        ended = await run_atrium("blobs", "verify", **server_settings(url, data_dir=tmp_path))

    assert ended.code == 0, ended.output
    assert "3 blobs: 3 sound, 0 unreferenced, 0 unfinished, 0 missing, 0 corrupt, 0 orphaned" in ended.output
    assert "100%" in ended.output


@pytest.mark.parametrize("damage", ["missing", "corrupt", "orphaned"])
async def test_damage_is_found_named_and_fails_the_command(tmp_path: Path, damage: str) -> None:
    async with fresh_database() as url:
        files = sorted(path for path in (await _filled(url, tmp_path)).rglob("*") if path.is_file())
        digest = _damage(files[0], damage)

        ended = await run_atrium("blobs", "verify", **server_settings(url, data_dir=tmp_path))

    assert ended.code == 1
    assert f"{damage}: company" in ended.output
    assert digest in ended.output


def _damage(file: Path, kind: str) -> str:
    if kind == "missing":
        file.unlink()
        return file.name
    if kind == "corrupt":
        body = bytearray(file.read_bytes())
        body[3] ^= 1
        file.write_bytes(body)
        return file.name
    orphan = file.with_name(secrets.token_hex(32))
    orphan.write_bytes(b"nobody's")
    return orphan.name


async def _filled(url: str, folder: Path) -> Path:
    async with open_application(settings_for(url, data_dir=folder)) as house:
        company: Company = await found_company(house)
        client: Client = await company.join("member")
        stored: list[Any] = [await put(client, f"k{n}", secrets.token_bytes(5000)) for n in range(3)]
        assert len(stored) == 3
    return folder / "blobs"
