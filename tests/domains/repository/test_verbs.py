"""Verbs of the repository that have no route of their own: what other rooms build on."""

from dataclasses import dataclass, field

import pytest

from atrium.boot.wiring import DOMAINS
from atrium.engine.repository import trash as repository_trash
from atrium.engine.repository import writes
from atrium.engine.repository.model import Conditions, ObjectDraft, ObjectStale, ObjectWritten
from atrium.kit.errors import Invalid
from atrium.seams.context import Context
from atrium.seams.wiring import Domain, Listener
from tests.domains.repository.test_api import content, keys, put, used
from tests.domains.repository.test_sharing import operation_of
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


async def test_a_copy_refers_to_the_same_bytes_and_is_counted(company: Company, alice: Client) -> None:
    source = await put(alice, "a", b"bytes")
    op = await operation_of(company, alice)

    copied = await writes.copy_object(
        op, source["id"], source["version"]["id"], ObjectDraft(key="b", content_type="text/plain")
    )

    assert copied.version.sha256 == source["version"]["sha256"]
    assert (await content(alice, str(copied.id))).raw == b"bytes"
    assert await used(company) == 10


async def test_a_copy_keeps_to_its_conditions(company: Company, alice: Client) -> None:
    source = await put(alice, "a", b"bytes")
    op = await operation_of(company, alice)

    with pytest.raises(ObjectStale):
        await writes.copy_object(
            op,
            source["id"],
            source["version"]["id"],
            ObjectDraft(key="a", content_type="x/y"),
            Conditions(if_none_match="*"),
        )


async def test_a_delete_marker_hides_the_key_until_it_is_written_again(company: Company, alice: Client) -> None:
    stored = await put(alice, "a", b"one")
    op = await operation_of(company, alice)
    async with op.begin() as ctx:
        await writes.mark_deleted(ctx, stored["id"])

    hidden, gone = await keys(alice), await content(alice, stored["id"])
    old = await content(alice, stored["id"], version=1)
    back = await put(alice, "a", b"two")

    assert (hidden, gone.status, old.raw) == ([], 404, b"one")
    assert (back["id"], back["version"]["number"], await keys(alice)) == (stored["id"], 3, ["a"])


async def test_deleting_the_newest_version_brings_back_the_one_before(company: Company, alice: Client) -> None:
    await put(alice, "a", b"one")
    newest = await put(alice, "a", b"three")
    op = await operation_of(company, alice)

    async with op.begin() as ctx:
        await repository_trash.delete_version(ctx, newest["id"], newest["version"]["id"], keep=True)

    assert (await content(alice, newest["id"])).raw == b"one"
    assert await used(company) == 3
    assert (await put(alice, "a", b"next"))["version"]["number"] == 3


async def test_with_its_last_version_an_object_goes(company: Company, alice: Client) -> None:
    stored = await put(alice, "a", b"one")
    op = await operation_of(company, alice)

    async with op.begin() as ctx:
        await repository_trash.delete_version(ctx, stored["id"], stored["version"]["id"], keep=False)

    assert (await alice.get(f"/api/repo-obj/{stored['id']}")).status == 404


@dataclass
class Ear:
    """Hears every write, and refuses those to one key."""

    heard: list[ObjectWritten] = field(default_factory=list)

    async def hear(self, ctx: Context, event: ObjectWritten) -> None:
        self.heard.append(event)
        if event.object.key == "refused":
            raise Invalid("the listener does not want this")


async def test_every_write_is_announced_in_its_own_transaction(
    database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ear = Ear()
    domains = (*DOMAINS, Domain("ear", listeners=(Listener(ObjectWritten, ear.hear),)))
    settings = settings_for(database_url, data_dir=tmp_path_factory.mktemp("announced"))
    async with open_application(settings, domains=domains) as house:
        client = await (await found_company(house)).join("member")
        stored = await put(client, "fine")
        await client.post("/api/documents", {"title": "Plan"})
        refused = await client.put("/api/repo/refused", b"x")
        left = await keys(client)

    assert [event.object.key.split("-")[0] for event in ear.heard] == ["fine", "documents/plan", "refused"]
    assert (str(ear.heard[0].version.id), ear.heard[0].derived) == (stored["version"]["id"], False)
    assert refused.status == 400
    assert left[-1] == "fine"
