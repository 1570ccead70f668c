"""process-upload as a trigger of another person starts it: on a private file, version after version."""

from typing import Any
from uuid import UUID

from tests.domains.pipeline.conftest import SCHEMA, Reader, put, read_body
from tests.domains.pipeline.test_runs import FORM, documents, starter
from tests.domains.triggers.flows import arm
from tests.domains.workflows.engine import Starter

__all__ = ["starter"]


async def fired(writer: Starter, body: bytes) -> dict[str, Any]:
    """The run, to its end, that this version of a private file fired."""
    await put(writer.client, "in/bill.pdf", body, visibility="private")
    newest = (await writer.client.get("/api/runs"))["items"][0]
    async with writer.engine.working():
        return await writer.ended(UUID(newest["id"]))


async def test_the_second_version_of_a_private_file_is_processed_as_the_first(starter: Starter, reader: Reader) -> None:
    mia = await starter.company.join("member")
    writer = Starter(starter.engine, starter.company, mia)
    given = {"schema": SCHEMA, "template": FORM, "locales": ["es", "nl"]}
    await arm(starter.client, "process-upload", match_prefix="in/bill.pdf", input=given)

    first = await fired(writer, b"bill A-17")
    reader.fields = lambda document: {"number": "B-18", "total": 1}
    second = await fired(writer, b"bill B-18")

    made = await documents(mia)
    assert (first["error"], second["error"]) == (None, None)
    assert first["id"] != second["id"]
    assert {key: (one["version"]["number"], one["visibility"]) for key, one in made.items()} == dict.fromkeys(
        ["fields.json", "form.md", "form.md.es.md", "form.md.nl.md"], (2, "private")
    )
    assert await read_body(mia, made["form.md.es.md"]["id"]) == "# INVOICE B-18\n\nTOTAL 1\n"
    assert (await starter.client.get("/api/repo"))["items"] == []
