"""A transcript can be cut at any position, by any reader, and whatever was stored of it joins to what was said."""

import asyncio
import json
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from atrium.engine.turns.transcripts import Piece, Transcript, frames_after

ID = UUID(int=1)
SAID = st.lists(st.tuples(st.booleans(), st.text(min_size=1, max_size=6)), max_size=12)


def told(frames: bytes) -> tuple[list[tuple[bool, str]], list[int]]:
    """What the events say, and their positions."""
    said, positions = [], []
    for block in frames.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        positions.append(int(fields["id"].rpartition(".")[2]))
        if fields["event"] == "delta":
            data = json.loads(fields["data"])
            said.append(("thinking" in data, data.get("thinking", data.get("text"))))
    return said, positions


def characters(said: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    return [(thinking, character) for thinking, text in said for character in text]


@given(SAID, st.data())
def test_a_reader_is_told_exactly_the_rest_from_any_position(said: list[tuple[bool, str]], data: st.DataObject) -> None:
    transcript = Transcript(ID)
    for thinking, text in said:
        transcript.say(text, thinking=thinking)
        if data.draw(st.booleans()):
            transcript.pieces()
    after = data.draw(st.integers(min_value=-1, max_value=transcript.position + 2))
    found, positions = told(frames_after(ID, transcript.pieces(), after))

    assert characters(found) == characters(said)[max(0, after) :]
    assert positions == sorted(set(positions))
    assert all(after < position <= transcript.position for position in positions)


@given(SAID, st.data())
def test_pieces_that_were_handed_out_keep_their_bounds(said: list[tuple[bool, str]], data: st.DataObject) -> None:
    transcript, stored = Transcript(ID), dict[int, Piece]()
    for thinking, text in said:
        transcript.say(text, thinking=thinking)
        if data.draw(st.booleans()):
            # Stored twice, as after a commit whose end was not heard: the first stays.
            for piece in transcript.pieces():
                assert stored.setdefault(piece.at, piece) == piece
    stored |= {piece.at: piece for piece in transcript.pieces()}
    joined = [(piece.kind == "thinking", piece.body) for _, piece in sorted(stored.items())]
    assert characters(joined) == characters(said)


@given(SAID, st.integers(min_value=0, max_value=12))
def test_readers_who_come_at_any_moment_hear_the_same(said: list[tuple[bool, str]], late: int) -> None:
    async def follow() -> None:
        transcript = Transcript(ID)

        async def read() -> bytes:
            return b"".join([block async for block in transcript.follow(-1)])

        readers = [asyncio.create_task(read())]
        for number, (thinking, text) in enumerate(said):
            if number == late:
                readers.append(asyncio.create_task(read()))
            await asyncio.sleep(0)
            transcript.say(text, thinking=thinking)
        transcript.end("done", {})
        readers.append(asyncio.create_task(read()))
        for raw in await asyncio.gather(*readers):
            found, positions = told(raw)
            assert characters(found) == characters(said)
            assert positions[-1] == transcript.position + 1

    asyncio.run(follow())
