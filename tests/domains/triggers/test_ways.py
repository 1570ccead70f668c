"""Every way of writing a version fires triggers, with the rights of the credential that it came with."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from atrium.engine.tools.calls import call_tool
from atrium.sdk import write_object
from tests.domains.s3.clients import Person, Place
from tests.domains.triggers.flows import arm, done, history, outcomes, publish, spec, upload
from tests.domains.triggers.test_firing import acting
from tests.support.client import Client
from tests.support.people import Company

PART = 5 << 20
Way = Callable[[Company, Client], Awaitable[object]]


async def _put(company: Company, person: Client) -> None:
    await upload(person, "a.txt")


async def _put_again(company: Company, person: Client) -> None:
    await upload(person, "a.txt")
    await upload(person, "a.txt", b"y")


async def _document(company: Company, person: Client) -> None:
    await done(person.post("/api/documents", {"title": "One", "body": "x"}))


async def _changed_document(company: Company, person: Client) -> None:
    made = await done(person.post("/api/documents", {"title": "One", "body": "x"}))
    await done(person.put(f"/api/documents/{made['id']}", {"body": "y"}))


async def _tool(company: Company, person: Client) -> None:
    await call_tool(await acting(company, person), "documents_create", {"title": "One", "body": "x"})


async def _plugin(company: Company, person: Client) -> None:
    await write_object(await acting(company, person), "a.txt", b"x", content_type="text/plain")


async def _chat(company: Company, person: Client) -> None:
    """A conversation is an object, too: its question and its answer are versions."""
    await done(person.post("/api/ai/chat", {"prompt": "Good morning", "conversation": "new"}))


@pytest.mark.parametrize(
    ("way", "versions"),
    [(_put, 1), (_put_again, 2), (_document, 1), (_changed_document, 2), (_tool, 1), (_plugin, 1), (_chat, 2)],
)
async def test_a_version_written_here_fires(
    company: Company, admin: Client, alice: Client, way: Way, versions: int
) -> None:
    trigger = await arm(admin, await publish(admin))

    await way(company, alice)

    fires = await history(alice, trigger)
    assert [(fire["outcome"], fire["by"]["user_id"]) for fire in fires] == [("fired", alice.user_id)] * versions
    assert [fire["version"]["number"] for fire in fires] == [*range(versions, 0, -1)]


def _s3_put(client: Any, bucket: str) -> None:
    client.put_object(Bucket=bucket, Key="in/a.txt", Body=b"x", ContentType="text/plain")


def _s3_copy(client: Any, bucket: str) -> None:
    client.put_object(Bucket=bucket, Key="source.txt", Body=b"x", ContentType="text/plain")
    client.copy_object(Bucket=bucket, Key="in/copy.txt", CopySource={"Bucket": bucket, "Key": "source.txt"})


def _s3_multipart(client: Any, bucket: str) -> None:
    named = {"Bucket": bucket, "Key": "in/large.txt"}
    named["UploadId"] = client.create_multipart_upload(**named, ContentType="text/plain")["UploadId"]
    parts = [
        {"PartNumber": n, "ETag": client.upload_part(**named, PartNumber=n, Body=b"x" * size)["ETag"]}
        for n, size in ((1, PART), (2, 1))
    ]
    for _ in range(2):
        # A client that did not hear the first answer asks again.
        client.complete_multipart_upload(**named, MultipartUpload={"Parts": parts})


def _s3_form(client: Any, bucket: str) -> None:
    post = client.generate_presigned_post(bucket, "in/form.txt")
    url = f"{client.meta.endpoint_url}/{bucket}"
    sent = httpx.post(url, data=post["fields"], files={"file": ("a.txt", b"words")}, trust_env=False)
    assert sent.status_code == 204, sent.text


def _s3_presigned(client: Any, bucket: str) -> None:
    url = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "in/signed.txt"})
    sent = httpx.put(url, content=b"x", trust_env=False)
    assert sent.status_code == 200, sent.text


async def armed(place: Place, person: Person, **fields: Any) -> Any:
    """A trigger on `in/` of this person's team."""
    async with place.server.client(person.token) as client:
        published = await client.post("/api/workflows", json=spec("on-upload"))
        assert published.status_code == 201, published.text
        made = await client.post(
            "/api/doc-triggers", json={"workflow_slug": "on-upload", "match_prefix": "in/"} | fields
        )
        assert made.status_code == 201, made.text
        return made.json()


async def fires_of(place: Place, person: Person, trigger: Any) -> Any:
    async with place.server.client(person.token) as client:
        return (await client.get(f"/api/doc-triggers/{trigger['id']}?limit=200")).json()["fires"]["items"]


@pytest.mark.parametrize("way", [_s3_put, _s3_copy, _s3_multipart, _s3_form, _s3_presigned])
async def test_a_version_written_over_s3_fires(place: Place, way: Callable[[Any, str], None]) -> None:
    ada = await place.found()
    trigger = await armed(place, ada)

    way(ada.s3(), ada.bucket)

    [fire] = await fires_of(place, ada, trigger)
    assert (fire["outcome"], fire["reason"], fire["key"][:3]) == ("fired", None, "in/")


async def test_deleting_over_s3_fires_nothing(place: Place) -> None:
    ada = await place.found()
    trigger = await armed(place, ada)
    ada.turn_on_versioning()
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="in/a.txt", Body=b"x")

    client.delete_object(Bucket=ada.bucket, Key="in/a.txt")
    client.delete_object(Bucket=ada.bucket, Key="in/absent.txt")

    assert [fire["version"]["number"] for fire in await fires_of(place, ada, trigger)] == [1]


@pytest.mark.parametrize(
    ("scope", "outcome"),
    [(["files:write", "files:read", "workflows:run"], None), (["files:write", "files:read"], "no_permission")],
)
async def test_an_access_key_needs_the_permission_in_its_scope(
    place: Place, scope: list[str], outcome: str | None
) -> None:
    ada = await place.found()
    trigger = await armed(place, ada)
    narrow = await place.person(ada.token, scope=scope, prefix="in/")

    narrow.s3().put_object(Bucket=narrow.bucket, Key="in/a.txt", Body=b"x")

    assert [fire["reason"] for fire in await fires_of(place, ada, trigger)] == [outcome]


async def test_a_role_that_runs_nothing_fires_nothing(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    made = await done(admin.post("/api/documents", {"title": "One", "body": "x", "visibility": "team"}))
    viewer = await company.join("viewer")
    share = {"principal_type": "user", "principal_id": viewer.user_id, "capability": "edit"}
    await done(admin.post(f"/api/repo-obj/{made['id']}/share", share))

    await done(viewer.put(f"/api/documents/{made['id']}", {"body": "changed"}))

    assert await outcomes(admin, trigger) == ["no_permission", "fired"]
