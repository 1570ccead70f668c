"""Workflows and triggers to start them with."""

import secrets
from typing import Any

from tests.support.client import Answer, Client

TITLED = {"title": {"type": "string"}}


def spec(slug: str, inputs: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A workflow of one step, which counts words."""
    step = {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": "one two"}, "terminal": True}
    return {
        "format": 1,
        "slug": slug,
        "start": "count",
        "max_steps": 5,
        "steps": [step],
        "inputs": inputs or {},
    } | fields


def document_spec(slug: str, title: str) -> dict[str, Any]:
    """A workflow whose one step writes a document, at `documents/<title>…`."""
    written = {"title": title, "body": "written by a run"}
    step = {"name": "write", "kind": "tool", "tool": "documents_create", "with": written, "terminal": True}
    return spec(slug, {"object_id": {"type": "string", "optional": True}}, start="write", steps=[step])


async def publish(admin: Client, slug: str = "", inputs: dict[str, Any] | None = None, **fields: Any) -> str:
    """Publish a workflow; its slug."""
    slug = slug or f"flow-{secrets.token_hex(4)}"
    await done(admin.post("/api/workflows", spec(slug, inputs, **fields)))
    return slug


async def arm(admin: Client, slug: str, **fields: Any) -> Any:
    """A trigger of this workflow."""
    return (await done(admin.post("/api/doc-triggers", {"workflow_slug": slug} | fields))).body


async def upload(client: Client, key: str, body: bytes = b"x", type: str = "text/plain", **query: str) -> Any:
    """Write a version the plainest way."""
    sent = await client.send("PUT", f"/api/repo/{key}", body, query=dict(query), headers={"content-type": type})
    assert sent.status in (200, 201), sent.raw
    return sent.body


async def history(client: Client, trigger: Any, limit: int = 50) -> Any:
    """What became of the versions that matched, newest first."""
    return (await done(client.get(f"/api/doc-triggers/{trigger['id']}", limit=limit)))["fires"]["items"]


async def outcomes(client: Client, trigger: Any) -> list[str]:
    """`fired`, or why not, newest first."""
    return [fire["reason"] or fire["outcome"] for fire in await history(client, trigger, limit=200)]


async def done(answer: Any) -> Answer:
    """The answer of a step that only arranges, so it must have worked."""
    found: Answer = await answer
    assert found.status < 300, found.raw
    return found
