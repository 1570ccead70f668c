"""A server over HTTP that answers calls with anything but an answer: each is refused in our own words, and the next call works.

`ATRIUM_FULL=1` tries 300 of them in both revisions; otherwise 30, each in one.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest

from atrium.product.mcp import definitions
from atrium.product.mcp import servers as mcp_servers
from tests.domains.mcp.rude_http import FORGED, HANDSHAKE, RESUMED, STATELESS, WELL_FORMED, broken_answers, rude_server
from tests.domains.mcp.test_client import call, connected, known, turn_on, until
from tests.support.patience import PATIENCE

FULL = bool(os.environ.get("ATRIUM_FULL"))
REVISIONS = (HANDSHAKE, STATELESS)
REFUSALS = {"mcp.away", "tools.failed", "tools.timed_out"}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_broken_answer_is_refused_in_our_words_and_the_next_call_works(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = broken_answers(300) if FULL else broken_answers(30)[REVISIONS.index(revision) :: 2]
    monkeypatch.setattr(definitions, "_SECONDS", 3)
    monkeypatch.setattr(mcp_servers, "FIRST_PAUSE", 0.01)
    async with (
        rude_server(revision) as rude,
        connected(tmp_path, {"name": "far", "url": rude.url}) as (house, _, admin),
    ):
        [server] = known(house)
        assert server.protocol == revision
        await turn_on(admin, "echo")
        rude.next = WELL_FORMED
        assert (await call(admin, "echo"))["value"] == FORGED
        for number, broken in enumerate(tried):
            rude.next, before = broken, rude.calls
            async with asyncio.timeout(PATIENCE):
                refused = await call(admin, "echo", number=number)
            rude.next = None

            assert (refused.status, refused.code in REFUSALS) == (502, True), (broken.about, refused.raw)
            assert FORGED not in refused.raw.decode(), broken.about
            assert rude.calls > before, broken.about
            await until(lambda: server.state == "connected")
            good = await call(admin, "echo", number=number)
            assert good.status == 200, (broken.about, good.raw)
            assert good["value"] == json.dumps({"number": number})


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_stream_that_ends_without_an_answer_is_not_resumed_for_ever(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definitions, "_SECONDS", 3)
    monkeypatch.setattr(mcp_servers, "FIRST_PAUSE", 0.01)
    async with (
        rude_server(revision) as rude,
        connected(tmp_path, {"name": "far", "url": rude.url}) as (house, _, admin),
    ):
        await turn_on(admin, "echo")
        rude.next = RESUMED
        refused = await call(admin, "echo", number=1)
        rude.next = None

        assert refused.status == 502
        assert refused.code in REFUSALS
        assert rude.resumed > 0
        await until(lambda: known(house)[0].state == "connected")
        assert (await call(admin, "echo", number=2)).status == 200
        before = rude.resumed
        await asyncio.sleep(0.5)
        assert rude.resumed == before
