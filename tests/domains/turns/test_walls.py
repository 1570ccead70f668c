"""Streams of many companies beside each other, streams whose credential ends, and addresses that are never fetched."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.assemble import Application
from tests.domains.turns.test_processes import Heard
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.processes import rounds, serving
from tests.support.reader import Reader
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Speaker

pytestmark = pytest.mark.timeout(600)
# A credential that has ended is noticed by every process within this.


@asynccontextmanager
async def repeating() -> AsyncIterator[str]:
    """A model that says the last word of its question forty times, slowly."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
            word = json.loads(await reader.readexactly(length))["messages"][-1]["content"].split()[-1] if length else ""
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            for _ in range(40):
                writer.write(b"data: %b\n\n" % json.dumps({"choices": [{"delta": {"content": f"{word} "}}]}).encode())
                await asyncio.sleep(0.1)
            writer.write(b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n')
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20, backlog=512)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def test_no_word_crosses_between_companies_that_stream_at_once(tmp_path: Path) -> None:
    """ATRIUM_FULL: 50 companies."""
    async with repeating() as model, fresh_database() as url, serving(url, 2, local_model_url=model) as servers:
        async with open_application(settings_for(url, data_dir=tmp_path)) as house:
            people = [await (await found_company(house)).join() for _ in rounds(8, 50)]
        canaries = [f"canary-{secrets.token_hex(8)}" for _ in people]
        turns = dict[int, str]()

        async def stream(number: int) -> list[Heard]:
            person, body = people[number], {"prompt": f"Say {canaries[number]}", "on_disconnect": "finish"}
            heard, again = Heard(), Heard()
            # Cut after a while, and read on at the other process; a second reader hears everything there.
            await heard.read(servers[number % 2], str(person.token), body, 500)
            turns[number] = heard.turn
            rest = heard.read(servers[1 - number % 2], str(person.token), None)
            await asyncio.gather(rest, again.read(servers[1 - number % 2], str(person.token), {"resume": heard.turn}))
            return [heard, again]

        async def intrude() -> list[tuple[int, str]]:
            found = list[tuple[int, str]]()
            async with servers[0].client() as first, servers[1].client() as second:
                for _ in range(3):
                    await asyncio.sleep(1)
                    for number, turn in list(turns.items()):
                        other = people[(number + 1) % len(people)]
                        for client, body in ((first, {"resume": turn}), (second, {"stop": turn})):
                            headers = {"authorization": f"Bearer {other.token}"}
                            answer = await client.post("/api/ai/chat/stream", json=body, headers=headers)
                            found.append((answer.status_code, answer.text))
            return found

        intruding = asyncio.ensure_future(intrude())
        streams = await asyncio.gather(*(stream(number) for number in range(len(people))))
        refusals = await intruding

    for number, readers in enumerate(streams):
        for heard in readers:
            # Exactly one's own words, and nothing else.
            assert heard.text == heard.end["text"] == f"{canaries[number]} " * 40
    assert len(refusals) >= len(people)
    assert {status for status, _ in refusals} == {404}
    assert not [text for _, text in refusals if "canary" in text]


async def _leave(company: Company, person: Client, owner: Client) -> None:
    assert (await person.post("/api/logout")).status in (200, 204)


async def _remove(company: Company, person: Client, owner: Client) -> None:
    assert (await owner.delete(f"/api/members/{person.user_id}")).status == 200


async def _revoke(company: Company, person: Client, owner: Client) -> None:
    for token in (await person.get("/api/tokens"))["items"]:
        assert (await person.delete(f"/api/tokens/{token['id']}")).status in (200, 204)


@pytest.mark.parametrize("way", [_leave, _remove, _revoke])
async def test_open_streams_end_with_their_credential_in_every_process(
    way: Callable[[Company, Client, Client], Awaitable[None]],
    company: Company,
    houses: list[Application],
    speaker: Speaker,
) -> None:
    owner, person = await company.join("owner", org_role="org_owner"), await company.join("owner")
    token = person.token
    if way is _revoke:
        made = await person.post("/api/tokens", {"name": "t", "scope": ["chat:use"]})
        token = made["token"]
    here, there = (Client(house.app, token, person.user_id) for house in houses)
    asked = await Reader(here, {"prompt": "Who?", "on_disconnect": "finish"}).open()
    line = await speaker.line()
    line.say("hello")
    await asked.heard("hello")
    followed = await Reader(there, {"resume": asked.turn}).open()
    await followed.heard("hello")
    # Ended at the other process than the one that asks the model.
    elsewhere = Client(houses[1].app, person.token, person.user_id)
    await way(company, elsewhere, Client(houses[1].app, owner.token, owner.user_id))

    for reader in (asked, followed):
        assert reader.task is not None
        await asyncio.wait_for(reader.task, PATIENCE)
    line.say(" after the end")
    await asyncio.sleep(0.3)
    assert (asked.text, followed.text) == ("hello", "hello")
    refused = await Client(houses[0].app, token).post("/api/ai/chat/stream", {"resume": asked.turn})
    assert refused.status == 401


PARTS = (
    "http://{at}/a.png",
    "https://{at}/a.png",
    "HTTP://{at}/a.png",
    "hTTp://{at}/a.png",
    "//{at}/a.png",
    "http:{at}/a.png",
    "http:/{at}/a.png",
    "http://user:pw@{at}/",
    " http://{at}/",
    "\thttp://{at}/",
    "ftp://{at}/a",
    "gopher://{at}/_x",
    "file:///etc/passwd",
    "ws://{at}/",
    "dict://{at}/",
    "http://localhost:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://127.1:{port}/",
    "http://0:{port}/",
    "data:image/svg+xml;base64,PHN2Zy8+",
    "data:image/png,http://{at}/",
    "data:text/html;base64,aHR0cDovLw==",
    "data:image/png;base64,http://{at}/",
    "javascript:fetch('http://{at}/')",
    "blob:http://{at}/1",
    "cid:{at}",
)
SCHEMAS: tuple[dict[str, Any], ...] = (
    {"$ref": "http://{at}/s.json"},
    {"$ref": "https://{at}/s.json#/a"},
    {"$ref": "//{at}/s.json"},
    {"$ref": "s.json"},
    {"$ref": "file:///etc/passwd"},
    {"properties": {"a": {"$ref": "http://{at}/s"}}},
    {"items": {"anyOf": [{"$ref": "http://{at}/s"}]}},
    {"$dynamicRef": "http://{at}/s#a"},
    {"$recursiveRef": "http://{at}/s"},
    {"$id": "http://{at}/s", "type": "object"},
    {"$id": "http://{at}/", "$ref": "other"},
    {"$schema": "http://{at}/meta"},
    {"$schema": "https://{at}/draft/2020-12/schema", "type": "object"},
    {"$vocabulary": {"http://{at}/v": True}},
    {"$defs": {"a": {"$id": "http://{at}/a"}}, "$ref": "#/$defs/a"},
    {"not": {"$ref": "http://{at}/s"}},
    {"if": {"$ref": "http://{at}/s"}, "then": {}},
)
URLS = (
    "http://{at}/v1",
    "https://{at}/v1",
    "http://localhost:{port}/v1",
    "http://LOCALHOST.:{port}/v1",
    "http://127.1:{port}/v1",
    "http://2130706433:{port}/v1",
    "http://0x7f000001:{port}/v1",
    "http://0177.0.0.1:{port}/v1",
    "http://0:{port}/v1",
    "http://0.0.0.0:{port}/v1",
    "http://[::1]:{port}/v1",
    "http://[::ffff:127.0.0.1]:{port}/v1",
    "http://[::ffff:7f00:1]:{port}/v1",
    "http://user@{at}/v1",
    "http://example.com@{at}/v1",
    "http://{at}#@example.com/",
    "http://169.254.169.254/latest",
    "http://10.0.0.1:{port}/v1",
    "http://192.168.0.1/v1",
    "http://[fd00::1]/v1",
    "http://[fe80::1]/v1",
    "http://100.64.0.1/v1",
    "ftp://{at}/v1",
    "file:///etc/passwd",
    "gopher://{at}/",
    "//{at}/v1",
    "{at}/v1",
    "http:///v1",
)


@asynccontextmanager
async def trap() -> AsyncIterator[tuple[int, list[object]]]:
    """A port at every address of this machine, and who has come."""
    came = list[object]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer.get_extra_info("peername"))
        writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], came


async def test_no_address_in_a_question_a_schema_or_an_executor_is_ever_called(
    company: Company, alice: Client, speaker: Speaker
) -> None:
    owner, before = await company.join("owner", org_role="org_owner"), speaker.count
    async with trap() as (port, came):

        def aimed(vector: Any) -> Any:
            text = json.dumps(vector).replace("{at}", f"127.0.0.1:{port}").replace("{port}", str(port))
            return json.loads(text)

        answers = []
        for url in PARTS:
            part = {"type": "image_url", "image_url": {"url": aimed(url)}}
            answers.append((url, await alice.post("/api/ai/chat", {"prompt": [part]})))
            earlier = [{"role": "user", "content": [part]}]
            answers.append((url, await alice.post("/api/ai/chat", {"prompt": "x", "messages": earlier})))
        for schema in SCHEMAS:
            wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": aimed(schema)}}
            answers.append((str(schema), await alice.post("/api/ai/chat", {"prompt": "x", "response_format": wanted})))
        for number, url in enumerate(URLS):
            draft = {"name": f"trap {number}", "mode": "push", "url": aimed(url)}
            answers.append((url, await owner.post("/api/org/executors", draft)))
        await asyncio.sleep(0.3)

    print(f"{len(answers)} vectors, {len(came)} connections")
    assert len(answers) >= 50
    assert [(vector, answer.status) for vector, answer in answers if answer.status != 400] == []
    # A reason that a person can read, and no defect of ours in it.
    assert [vector for vector, answer in answers if len(answer["detail"]) < 10 or "Traceback" in answer["detail"]] == []
    assert came == []
    assert speaker.count == before


async def test_a_format_that_names_an_address_is_a_word_and_not_a_place_to_go(alice: Client, speaker: Speaker) -> None:
    async with trap() as (port, came):
        schema = {"type": "string", "format": "uri"}
        wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
        asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": "x", "response_format": wanted}))
        line = await speaker.line()
        line.say(json.dumps(f"http://127.0.0.1:{port}/"))
        line.finish(usage=(1, 1))
        reply = await asking
        await asyncio.sleep(0.2)

    assert (reply.status, reply["parsed"], came) == (200, f"http://127.0.0.1:{port}/", [])
