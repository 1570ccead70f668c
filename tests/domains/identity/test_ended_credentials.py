"""Credentials that end while they are used."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.signing_in import PASSWORD, person, signed_in, with_token

pytestmark = pytest.mark.finding

FIRST, LAST = b"x" * 100_000, b"the end"


class Upload:
    """A PUT whose last piece comes when the test says so."""

    def __init__(self, client: Client, path: str) -> None:
        self._arrived, self._go_on = asyncio.Event(), asyncio.Event()
        length = {"content-length": str(len(FIRST) + len(LAST))}
        self.task: asyncio.Task[Answer] = asyncio.create_task(client.put(path, self._pieces(), headers=length))

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield FIRST
        self._arrived.set()
        await self._go_on.wait()
        yield LAST

    async def under_way(self) -> None:
        await asyncio.wait({asyncio.create_task(self._arrived.wait()), self.task}, return_when=asyncio.FIRST_COMPLETED)
        assert self._arrived.is_set(), self.task.result().raw

    async def finish(self) -> Answer:
        self._go_on.set()
        return await self.broken_off()

    async def broken_off(self) -> Answer:
        async with asyncio.timeout(PATIENCE):
            return await self.task


async def by_signing_out(client: Client, witness: Client) -> None:
    assert (await client.post("/api/logout")).status == 200


async def by_ending_the_session(client: Client, witness: Client) -> None:
    assert (await witness.delete("/api/sessions")).status == 200


async def by_a_new_password(client: Client, witness: Client) -> None:
    change = {"password": PASSWORD, "new_password": "another long phrase"}
    assert (await witness.post("/api/password", change)).status == 200


WAYS = [by_signing_out, by_ending_the_session, by_a_new_password]


@pytest.mark.parametrize("end", WAYS)
async def test_f11_an_upload_does_not_outlive_its_session(company: Company, end: object) -> None:
    ann = await person(company, "owner")
    session = await signed_in(ann)
    upload = Upload(session, "/api/repo/late.txt?visibility=team")
    await upload.under_way()

    await end(session, ann)  # type: ignore[operator]
    answer = await upload.finish()

    assert (answer.status, answer.code) == (401, "identity.unauthenticated")
    assert (await ann.get("/api/repo"))["items"] == []


async def test_f11_an_upload_does_not_outlive_its_token(company: Company) -> None:
    owner = await person(company, "owner")
    issued = await owner.post("/api/tokens", {"name": "machine"})
    upload = Upload(with_token(owner, issued["token"]), "/api/repo/late.txt?visibility=team")
    await upload.under_way()

    assert (await owner.delete(f"/api/tokens/{issued['id']}")).status == 200
    answer = await upload.finish()

    assert (answer.status, answer.code) == (401, "identity.unauthenticated")
    assert (await owner.get("/api/repo"))["items"] == []


async def test_f11_an_upload_does_not_outlive_its_companys_suspension(company: Company, alice: Client) -> None:
    upload = Upload(alice, "/api/repo/late.txt?visibility=team")
    await upload.under_way()

    await company.suspend()
    answer = await upload.finish()

    assert (answer.status, answer.code) == (402, "tenancy.suspended")
    assert (await alice.get("/api/repo"))["items"] == []


@pytest.mark.parametrize("end", WAYS)
async def test_f11_an_upload_that_stands_still_is_broken_off_when_its_session_ends(
    company: Company, end: object
) -> None:
    ann = await person(company, "owner")
    session = await signed_in(ann)
    upload = Upload(session, "/api/repo/late.txt?visibility=team")
    await upload.under_way()

    await end(session, ann)  # type: ignore[operator]
    answer = await upload.broken_off()

    assert (answer.status, answer.code) == (401, "identity.unauthenticated")
    assert answer.headers["connection"] == "close"


async def test_f11_a_download_is_broken_off_when_its_session_ends(company: Company) -> None:
    ann = await person(company, "owner")
    session = await signed_in(ann)
    size = 5_000_000
    stored = await ann.put("/api/repo/large.bin", b"x" * size)
    reader = Reader(session, f"/api/repo-obj/{stored['id']}/content")
    await reader.under_way()

    await by_signing_out(session, ann)
    async with asyncio.timeout(PATIENCE):
        await reader.task

    assert 0 < reader.received < size


async def test_f11_an_upload_over_s3_does_not_outlive_its_key(company: Company, nobody: Client) -> None:
    owner = await person(company, "owner")
    key = await owner.post("/api/s3/credentials", {"name": "laptop"})
    stored = await owner.put("/api/repo/kept.txt", b"before")
    link = await owner.post(f"/api/repo-obj/{stored['id']}/presign", {"method": "PUT"})
    upload = Upload(nobody, link["url"].removeprefix("http://atrium.test"))
    await upload.under_way()

    assert (await owner.delete(f"/api/s3/credentials/{key['id']}")).status == 200
    answer = await upload.broken_off()

    assert answer.status == 403, answer.raw
    assert (await owner.get(f"/api/repo-obj/{stored['id']}/content")).raw == b"before"


async def test_f11_others_are_not_disturbed(company: Company, alice: Client) -> None:
    ann = await person(company, "owner")
    upload = Upload(alice, "/api/repo/mine.txt")
    await upload.under_way()

    await by_signing_out(await signed_in(ann), ann)

    assert (await upload.finish()).status in (200, 201)


class Reader:
    """Somebody who takes the first piece of a download and then no more."""

    def __init__(self, client: Client, path: str) -> None:
        self.received = 0
        self._begun = asyncio.Event()
        self.task = asyncio.create_task(client.app(client._scope("GET", path, None, {}), self._receive, self._send))

    async def under_way(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._begun.wait()

    async def _receive(self) -> dict[str, object]:
        await asyncio.Event().wait()
        return {}

    async def _send(self, message: dict[str, object]) -> None:
        body = message.get("body", b"")
        assert isinstance(body, bytes)
        self.received += len(body)
        if body:
            self._begun.set()
            await asyncio.Event().wait()
