"""What must not come in does not: damage by name, other keys, names that are taken, and archives that were made to harm."""

import hashlib
import io
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from atrium.admin.moving import archive as archives
from atrium.admin.moving.model import MoveManifest, MoveRefused
from atrium.kit.crypto.keys import Keyring
from tests.domains.moving.sides import TRANSFER, Side, two_sides
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.walls.population import seal

Edit = Callable[[dict[str, bytes]], None]


@dataclass(frozen=True, slots=True)
class Made:
    """An archive, the side it is for, and a person of another company there."""

    place: Path
    company: Company
    owner: Client
    target: Side
    stranger: Client


@pytest.fixture(scope="module")
async def made(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Made]:
    async with two_sides() as (a, b):
        company = await found_company(a.house)
        owner = await company.join("owner", org_role="org_owner")
        other = await company.join()
        kept = await owner.put("/api/repo/a.txt", b"bytes worth moving " * 99)
        await owner.post(f"/api/repo-obj/{kept['id']}/share", {"user_id": other.user_id})
        note = await owner.post("/api/notes", {"title": "a note"})
        await owner.post(f"/api/notes/{note['id']}/share", {"user_id": other.user_id, "permission": "notes:read"})
        await owner.post("/api/s3/credentials", {"name": "a key"})
        await seal(a.house, company)
        place = tmp_path_factory.mktemp("moving") / "archive"
        await a.export(company.org.slug, place)
        yield Made(place, company, owner, b, await (await found_company(b.house)).join("owner"))


def contents(place: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(place) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(
    made: Made, place: Path, edit: Edit, change: Callable[[MoveManifest], MoveManifest] = lambda one: one
) -> Path:
    """The same with an edit, signed by somebody who has the key of transfers and means harm."""
    files = contents(made.place)
    manifest = msgspec.json.decode(files.pop(archives.MANIFEST), type=MoveManifest)
    edit(files)
    tables = {
        name: msgspec.structs.replace(rows, rows=files[archives.rows_name(name)].count(b"\n"))
        for name, rows in manifest.tables.items()
    }
    manifest = msgspec.structs.replace(
        manifest,
        tables=tables,
        files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        sizes={name: len(content) for name, content in files.items()},
    )
    raw = archives.encode_manifest(archives.sign_manifest(change(manifest), Keyring(TRANSFER)))
    with zipfile.ZipFile(place, "w") as out:
        for name, content in {**files, archives.MANIFEST: raw}.items():
            out.writestr(name, content)
    return place


def replacing(table: str, old: str, new: str) -> Edit:
    def edit(files: dict[str, bytes]) -> None:
        name = archives.rows_name(table)
        assert old.encode() in files[name], f"{old} is not in {table}"
        files[name] = files[name].replace(old.encode(), new.encode())

    return edit


async def refusal_of(made: Made, place: Path) -> str:
    """Why it is refused; nothing was written by then."""
    before = await made.target.counts()
    keys = await run_as_owner(made.target.url, "SELECT count(*) FROM audit_keys")

    with pytest.raises(MoveRefused) as refused:
        await made.target.bring_in(place)

    assert await made.target.counts() == before
    assert await run_as_owner(made.target.url, "SELECT count(*) FROM audit_keys") == keys
    assert await made.target.bytes_of(made.company.org.id) == {}
    return str(refused.value)


async def test_every_file_is_missed_when_a_byte_of_it_flips(made: Made, tmp_path: Path) -> None:
    with zipfile.ZipFile(made.place) as file:
        names = [info.filename for info in file.infolist() if info.file_size]
    for name in (
        archives.MANIFEST,
        "blobs.txt",
        "rows/notes",
        "rows/users",
        next(n for n in names if n.startswith("blobs/")),
    ):
        raw, content = bytearray(made.place.read_bytes()), contents(made.place)[name]
        raw[raw.find(content) + len(content) // 2] ^= 1
        (tmp_path / "flipped").write_bytes(raw)

        assert name in await refusal_of(made, tmp_path / "flipped")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
async def test_a_cut_archive_is_none(made: Made, tmp_path: Path, share: float) -> None:
    raw = made.place.read_bytes()
    (tmp_path / "cut").write_bytes(raw[: int(len(raw) * share)])

    assert "cut" in await refusal_of(made, tmp_path / "cut")


async def test_an_edited_manifest_and_another_key_are_refused(made: Made, tmp_path: Path) -> None:
    files = contents(made.place)
    files[archives.MANIFEST] = files[archives.MANIFEST].replace(b'"missing": []', b'"missing": ["00"]')
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, content in files.items():
            out.writestr(name, content)
    (tmp_path / "edited").write_bytes(buffer.getvalue())

    assert "manifest.json was edited" in await refusal_of(made, tmp_path / "edited")
    with pytest.raises(MoveRefused, match="another SERVICE_TRANSFER_KEY"):
        archives.Archive(made.place, Keyring("another key of transfers that nobody used"))


def _extra(name: str) -> Edit:
    return lambda files: files.update({name: b"harm"})


HOSTILE: dict[str, tuple[Callable[[Made], Edit], str]] = {
    "a path out of the archive": (lambda made: _extra("../../etc/cron.d/harm"), "no part of a company"),
    "an absolute path": (lambda made: _extra("/etc/cron.d/harm"), "no part of a company"),
    "rows of a table of the instance": (lambda made: _extra("rows/executors"), "no part of a company"),
    "a row of another company": (
        lambda made: replacing("notes", str(made.company.org.id), made.stranger.org_id), "belongs to another company",
    ),
    "an operator": (lambda made: _operator, "operators do not move"),
    "a role that there is not": (lambda made: replacing("users", "\tmember\t", "\toperator\t"), "which there is not"),
    "a role in the company that there is not": (lambda made: replacing("users", "\torg_owner\t", "\torg_operator\t"), "do not fit"),
    "a token of a stranger": (
        lambda made: replacing("tokens", made.owner.user_id, made.stranger.user_id), "another company of this instance",
    ),
    "a grant to a stranger": (
        lambda made: replacing("object_grants", made.owner.user_id, made.stranger.user_id), "another company of this instance",
    ),
    "a note of a stranger's team": (
        lambda made: replacing("notes", str(made.company.team.id), made.stranger.team_id), "another company of this instance",
    ),
    "a token of nobody": (
        lambda made: replacing("tokens", made.owner.user_id, "01a1eb64-00f6-7562-bf95-134dfb4eb0a7"), "do not fit",
    ),
    "an event that was changed": (
        lambda made: replacing("audit_events", "notes.created", "notes.deleted"), "the audit chain does not hold",
    ),
    "bytes that are not there": (lambda made: _without_bytes, "not what its name says"),
    "a secret sealed elsewhere": (lambda made: _without_secret, "cannot be opened"),
    "the end of rows": (lambda made: lambda files: files.update({"rows/notes": b"\\.\n" + files["rows/notes"]}), "not a row"),
}  # fmt: skip


def _operator(files: dict[str, bytes]) -> None:
    # The only column of people that is true or false.
    files["rows/users"] = files["rows/users"].replace(b"\tf\t", b"\tt\t")


def _without_bytes(files: dict[str, bytes]) -> None:
    del files[next(name for name in files if name.startswith("blobs/"))]


def _without_secret(files: dict[str, bytes]) -> None:
    line = files["rows/s3_keys"]
    at = line.index(b"\\\\x01") + 40
    files["rows/s3_keys"] = line[:at] + (b"0" if line[at : at + 1] != b"0" else b"1") + line[at + 1 :]


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_was_made_to_harm_is_refused(made: Made, tmp_path: Path, name: str) -> None:
    make, reason = HOSTILE[name]

    assert reason in await refusal_of(made, rewritten(made, tmp_path / "hostile", make(made)))


async def test_a_manifest_that_promises_too_much_is_refused(made: Made, tmp_path: Path) -> None:
    def huge(manifest: MoveManifest) -> MoveManifest:
        rows = msgspec.structs.replace(manifest.tables["notes"], rows=10**18)
        return msgspec.structs.replace(manifest, tables=manifest.tables | {"notes": rows})

    assert "notes has" in await refusal_of(made, rewritten(made, tmp_path / "huge", lambda files: None, huge))


async def test_every_name_that_is_taken_is_listed_first(made: Made, tmp_path: Path) -> None:
    org = made.company.org
    await run_as_owner(made.target.url, "UPDATE orgs SET slug = $2, domain = 'taken.example.com' WHERE id = $1",
                       *_ids(made.stranger.org_id, org.slug))  # fmt: skip
    await run_as_owner(made.target.url, "UPDATE users SET username = upper($2) WHERE id = $1",
                       *_ids(made.stranger.user_id, made.owner.username))  # fmt: skip

    def with_host(manifest: MoveManifest) -> MoveManifest:
        return msgspec.structs.replace(
            manifest, company=msgspec.structs.replace(manifest.company, domain="taken.example.com")
        )

    refused = await refusal_of(made, rewritten(made, tmp_path / "taken", lambda files: None, with_host))
    assert f"the slug {org.slug}" in refused
    assert "the hostname taken.example.com" in refused
    assert f"the username {made.owner.username}" in refused

    receipt = await made.target.bring_in(made.place, **{org.slug: "renamed", made.owner.username: "renamed-owner"})
    assert receipt.company == org.id
    [row] = await run_as_owner(made.target.url, "SELECT slug FROM orgs WHERE id = $1", org.id)
    assert row[0] == "renamed"


def _ids(id: str, *values: Any) -> tuple[Any, ...]:
    return UUID(id), *values
