"""Looking at what somebody else's version does before starting it, and keeping that one has."""

from tests.domains.triggers.flows import done, publish, spec
from tests.support.client import Client
from tests.support.people import Company


async def test_what_a_version_does_is_accepted_by_the_version_alone(company: Company, admin: Client) -> None:
    slug, mia = await publish(admin), await company.join("member")
    looked = await mia.get(f"/api/workflows/{slug}")

    started = await mia.post(f"/api/workflows/{slug}/run", {"accept": looked["digest"]})
    accepted = (await mia.get(f"/api/workflows/{slug}"))["accepted"]
    await done(admin.post("/api/workflows", spec(slug)))
    newer = await mia.get(f"/api/workflows/{slug}")
    refused = await mia.post(f"/api/workflows/{slug}/run", {"accept": looked["digest"]})
    plain = await mia.post(f"/api/workflows/{slug}/run", {"input": {}})

    assert (looked["accepted"], started.status, accepted) == (False, 202, True)
    assert (newer["accepted"], newer["digest"] == looked["digest"]) == (False, False)
    assert (refused.status, refused.code, plain.status) == (409, "workflows.review", 202)
    assert (await admin.get(f"/api/workflows/{slug}"))["accepted"] is False


async def test_a_workflow_tells_what_its_steps_may_do(admin: Client) -> None:
    steps = [
        {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": "x"}},
        {"name": "again", "kind": "tool", "tool": "word_count", "with": {"text": "x"}},
        {"name": "write", "kind": "tool", "tool": "notes_create", "with": {"title": "x", "body": "x"}},
    ]
    slug = await publish(admin, steps=steps)

    shown = await admin.get(f"/api/workflows/{slug}")

    assert shown["reach"] == {
        "tools": [
            {"name": "word_count", "effect": "read", "permission": "chat:use"},
            {"name": "notes_create", "effect": "write", "permission": "notes:write"},
        ],
        "egress": False,
    }


async def test_reading_documents_into_the_graph_starts_no_version_that_nobody_looked_at(
    company: Company, admin: Client
) -> None:
    slug, mia = await publish(admin, "index-knowledge"), await company.join("member")
    looked = (await mia.get(f"/api/workflows/{slug}"))["digest"]

    refused = await mia.post("/api/kg/extract")
    own = await done(admin.post("/api/kg/extract"))
    joined = await done(mia.post("/api/kg/extract"))
    await done(admin.post(f"/api/runs/{own['id']}/cancel"))
    started = await done(mia.post(f"/api/workflows/{slug}/run", {"accept": looked}))
    await done(mia.post(f"/api/runs/{started['id']}/cancel"))
    accepted = await mia.post("/api/kg/extract")

    assert (refused.status, refused.code) == (409, "workflows.review")
    assert joined["id"] == own["id"]
    assert (accepted.status, accepted["started_by"]["user_id"]) == (202, mia.user_id)
