"""Workflows over HTTP: publishing, versions, plugins' specs, and the walls between teams."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from atrium.boot.assemble import Application
from atrium.engine.workflows import definitions
from atrium.engine.workflows.model import WorkflowMissing
from atrium.kit.ids import new_id
from atrium.seams.context import ANONYMOUS, Operation
from atrium.seams.wiring import LoadedPlugin, Plugin
from atrium.seams.workflow_format import SCHEMA
from atrium.seams.workflows import MOST_PROBLEMS, read_workflow
from tests.domains.pipeline.conftest import acting
from tests.domains.workflows.test_format import changed, composed
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.processes import until_queued
from tests.support.sizes import FULL


def spec(slug: str = "count", **fields: Any) -> dict[str, Any]:
    step = {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": {"$": "input.text"}}}
    known = {"slug": slug, "title": "Count words", "description": "Counts.", "inputs": {"text": {"type": "string"}}}
    return known | {"start": "count", "max_steps": 3, "steps": [step]} | fields


@pytest.fixture
def plugin(house: Application) -> Iterator["Brought"]:
    brought = Brought(house)
    yield brought
    house.services.registry.plugins.pop("brought", None)


class Brought:
    """A plugin that brings one workflow and may be replaced by a newer one of itself."""

    def __init__(self, house: Application) -> None:
        self._plugins = house.services.registry.plugins

    def bring(self, **fields: Any) -> None:
        document = spec("brought-flow", **fields)
        self._plugins["brought"] = LoadedPlugin(
            id="brought",
            name="Brought",
            version="0.1.0",
            description="Brings a workflow.",
            plugin=Plugin(workflows=(document,)),
            workflows=(read_workflow(document),),
        )


async def published(client: Client, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/api/workflows", spec(**fields))
    assert answer.status == 201, answer.raw
    return dict(answer.body)


async def test_two_who_look_first_in_different_orders_both_see_what_plugins_bring(
    house: Application, admin: Client
) -> None:
    first, last = "index-documents", "translate-chat"

    async with (await acting(house, admin)).begin() as ctx:
        await definitions.find(ctx, last)
        async with asyncio.timeout(PATIENCE):
            listing = asyncio.create_task(admin.get("/api/workflows"))
            await until_queued(house.services.settings.database_url, 1)
            found = await definitions.find(ctx, first)

    assert found.slug == first
    assert {first, last} <= {one["slug"] for one in (await listing)["items"]}


async def test_a_published_spec_is_read_back_as_it_was_sent(admin: Client, alice: Client) -> None:
    made = await admin.post("/api/workflows", spec(version=41))

    assert (made.status, made.headers["etag"]) == (201, '"1"')
    assert made.body == {
        "slug": "count",
        "version": 1,
        "title": "Count words",
        "description": "Counts.",
        "source": "team",
        "inputs": {"text": {"type": "string", "description": "", "optional": False}},
        "spec": spec(version=1),
        "created_by": admin.user_id,
        "created_at": made["created_at"],
    }
    found = await alice.get("/api/workflows/count")
    assert (found.status, found.headers["etag"]) == (200, '"1"')
    publication = {"version": 1, "created_by": admin.user_id, "created_at": made["created_at"]}
    reach = {"tools": [{"name": "word_count", "effect": "read", "permission": "chat:use"}], "egress": False}
    looked_at = {"digest": found["digest"], "reach": reach, "accepted": False}
    assert found.body == made.body | {"versions": [publication], "upstream": None} | looked_at


async def test_publishing_again_adds_a_version_and_leaves_the_earlier_ones(admin: Client) -> None:
    await published(admin, title="First")
    await published(admin, title="Second")

    newest = await admin.get("/api/workflows/count")
    first = await admin.get("/api/workflows/count", version=1)

    assert (newest["version"], newest["title"], newest["spec"]["version"]) == (2, "Second", 2)
    assert (first["version"], first["title"], first.headers["etag"]) == (1, "First", '"1"')
    assert [one["version"] for one in first["versions"]] == [2, 1]
    assert (await admin.get("/api/workflows/count", version=3)).code == "workflows.missing"


async def test_an_edit_of_an_older_version_is_refused(admin: Client) -> None:
    await published(admin)
    second = await admin.post("/api/workflows", spec(title="Second"), headers={"if-match": '"1"'})

    lost = await admin.post("/api/workflows", spec(title="Lost"), headers={"if-match": '"1"'})
    tried = await admin.post("/api/workflows?dry_run=1", spec(title="Lost"), headers={"if-match": '"1"'})

    assert second.status == 201
    assert (lost.status, lost.code, lost.headers["etag"]) == (412, "workflows.stale", '"2"')
    assert tried.status == 412
    assert (await admin.get("/api/workflows/count"))["title"] == "Second"


async def test_an_edit_of_what_is_not_there_is_refused(admin: Client) -> None:
    answer = await admin.post("/api/workflows", spec("new"), headers={"if-match": "*"})

    assert (answer.status, answer.code) == (412, "workflows.stale")


async def test_edits_at_the_same_moment_become_one_version_each_and_one_with_if_match(admin: Client) -> None:
    blind = await asyncio.gather(*(admin.post("/api/workflows", spec(title=f"T{n}")) for n in range(8)))
    tied = [admin.post("/api/workflows", spec(), headers={"if-match": '"8"'}) for _ in range(6)]

    assert sorted(one["version"] for one in blind) == list(range(1, 9))
    assert sorted([one.status for one in await asyncio.gather(*tied)]) == [201] + [412] * 5


async def test_a_dry_run_judges_and_stores_nothing(admin: Client) -> None:
    answer = await admin.post("/api/workflows?dry_run=1", spec())
    bad = await admin.post("/api/workflows?dry_run=1", spec(start="none"))

    assert (answer.status, answer.body) == (200, {"valid": True, "longest_path": 1})
    assert (bad.status, bad["errors"]) == (
        400,
        [{"path": "/start", "code": "unknown_step", "message": "no step is named none"}],
    )
    assert (await admin.get("/api/workflows/count")).status == 404


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"surprise": 1}, "", "shape"),
        ({"slug": "schema"}, "/slug", "shape"),
        ({"steps": [{"name": "a", "kind": "tool", "tool": "none_such"}], "start": "a"}, "/steps/0/tool", "unknown_tool"),
        ({"inputs": {}}, "/steps/0/with/text", "unknown_input"),
        ({"output": {"a": 1e300}}, "/output/a", "shape"),
        ({"output": {"a": {"$literal": 2**70}}}, "/output/a/$literal", "shape"),
        ({"output": {"a": [[[[["~/"]]]], {"$x": 1}]}}, "/output/a/1", "shape"),
        ({"output": {"a": {"b/~c": {"$": "item"}}}}, "/output/a/b~1~0c", "no_item"),
    ],
)  # fmt: skip
async def test_a_refusal_names_the_place_and_the_rule(
    admin: Client, fields: dict[str, Any], path: str, code: str
) -> None:
    answer = await admin.post("/api/workflows", spec(**fields))

    assert (answer.status, answer.code) == (400, "workflows.invalid")
    assert (path, code) in [(one["path"], one["code"]) for one in answer["errors"]]


async def test_e13_a_refusal_names_what_has_no_shape_and_what_has_no_meaning(admin: Client) -> None:
    steps = [{"name": "a", "kind": "tool", "tool": "none_such"}]

    answer = await admin.post("/api/workflows", spec(surprise=1, steps=steps, start="b"))

    assert [(one["path"], one["code"]) for one in answer["errors"]] == [
        ("", "shape"), ("/start", "unknown_step"), ("/steps/0/tool", "unknown_tool")
    ]  # fmt: skip
    assert answer["detail"].startswith("unknown: 'surprise'")


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"null", b'"x"', b"7", b"{", b'{"slug": "\\u0000"}', b'{"slug": "\\ud800"}', b'{"slug": NaN}', b'{"slug": 1e999}',
     b"[" * 5000, b'{"a":' * 60 + b"1" + b"}" * 60, b'{"a":' * 200 + b"1" + b"}" * 200],
)  # fmt: skip
async def test_what_is_no_spec_at_all_is_refused(admin: Client, raw: bytes) -> None:
    answer = await admin.post("/api/workflows", raw)

    assert answer.status == 400, answer.raw


async def test_a_document_full_of_faults_is_refused_soon_with_twenty_of_them(admin: Client) -> None:
    async with asyncio.timeout(PATIENCE):
        many = await admin.post("/api/workflows", spec(output={"a": [{"$x": 1}] * 9000}))
        huge = await admin.post("/api/workflows", spec(output={"a": [1] * 100_000}))

    assert (many.status, len(many["errors"])) == (400, MOST_PROBLEMS)
    assert [one["path"] for one in huge["errors"]] == [""]


async def test_the_format_is_public_and_its_schema_is_the_one_that_is_applied(house: Application) -> None:
    found = await Client(house.app).get("/api/workflows/schema")

    assert found.status == 200
    assert set(found.body) == {"format", "step_kinds", "predicates", "references", "retry", "json_schema"}
    assert (found["format"], found["step_kinds"], len(found["predicates"])) == (1, ["tool", "map", "choice"], 7)
    assert found["retry"] == {"maximum": 5, "backoff_seconds": [1, 2, 4, 8, 16]}
    assert found["json_schema"] == SCHEMA


async def test_listings_go_by_slug_in_pages(admin: Client) -> None:
    for slug in ("b-flow", "a-flow", "zz"):
        await published(admin, slug=slug)
    slugs, cursor = [], None
    while True:
        page = await admin.get("/api/workflows", limit=2, **({} if cursor is None else {"cursor": cursor}))
        slugs += [one["slug"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break

    assert slugs == sorted(slugs)
    assert len(slugs) == len(set(slugs))
    assert {"a-flow", "b-flow", "zz"} <= set(slugs)


async def test_a_listing_shows_the_newest_version_and_the_newest_run(admin: Client) -> None:
    await published(admin)
    await published(admin, title="Second")
    older, newest = new_id(), new_id()
    for run, state in ((newest, "running"), (older, "failed")):
        await insert_run(admin, run, state)

    [item] = [one for one in (await admin.get("/api/workflows"))["items"] if one["slug"] == "count"]

    assert item["last_run"].pop("created_at")
    assert item == {
        "slug": "count",
        "version": 2,
        "title": "Second",
        "description": "Counts.",
        "source": "team",
        "inputs": {"text": {"type": "string", "description": "", "optional": False}},
        "steps": 1,
        "last_run": {"id": str(newest), "state": "running", "outcome": "running", "failed_items": 0, "waiting": None},
    }


async def insert_run(person: Client, id: UUID, state: str) -> None:
    await run_as_owner(
        person.app._services.settings.database_url,
        "INSERT INTO runs (id, org_id, team_id, user_id, slug, version, state, locale, input, max_steps, finished_at)"
        " VALUES ($1, $2, $3, $4, 'count', 1, $5, 'en', '{}', 1, CASE WHEN $5 <> 'running' THEN now() END)",
        id, UUID(person.org_id), UUID(person.team_id), UUID(person.user_id), state,
    )  # fmt: skip


async def test_another_teams_workflow_is_missing(company: Company, admin: Client, plugin: Brought) -> None:
    plugin.bring()
    other = await company.join("admin", team=await company.add_team())
    await published(admin)
    await published(admin, slug="brought-flow", title="Ours")

    assert (await other.get("/api/workflows/count")).code == "workflows.missing"
    assert "count" not in [one["slug"] for one in (await other.get("/api/workflows"))["items"]]
    assert (await other.get("/api/workflows/brought-flow"))["title"] == "Count words"
    assert (await published(other))["version"] == 1


async def test_who_may_not_write_publishes_nothing(company: Company, alice: Client) -> None:
    reader = await company.join("admin", scope=["workflows:read"])

    assert (await alice.post("/api/workflows", spec())).status == 403
    assert (await alice.post("/api/workflows?dry_run=1", spec())).status == 403
    assert (await reader.post("/api/workflows", spec())).status == 403
    assert (await reader.get("/api/workflows")).status == 200


async def test_nothing_is_published_while_the_feature_is_off(admin: Client) -> None:
    await admin.post("/api/features/workflows", {"enabled": False})

    assert (await admin.post("/api/workflows", spec())).code == "features.off"
    assert (await admin.get("/api/workflows")).code == "features.off"
    assert (await admin.get("/api/workflows/schema")).status == 200


async def test_publishing_leaves_an_audit_event(admin: Client) -> None:
    await published(admin)

    event = (await admin.get("/api/audit"))["items"][0]
    assert (event["kind"], event["subject"], event["facts"]) == ("workflows.published", "count", {"version": 1})


async def test_a_plugins_workflow_is_there_at_the_first_look(admin: Client, alice: Client, plugin: Brought) -> None:
    plugin.bring(version=3)

    found = await alice.get("/api/workflows/brought-flow")

    assert (found["version"], found["source"], found["created_by"]) == (3, "plugin:brought", None)
    assert found["spec"] == spec("brought-flow", version=3)
    assert [one["version"] for one in found["versions"]] == [3]
    assert "brought-flow" in [one["slug"] for one in (await admin.get("/api/workflows"))["items"]]


async def test_many_first_looks_at_once_find_one_version(company: Company, plugin: Brought) -> None:
    plugin.bring()
    people = [await company.join("admin") for _ in range(6)]

    looks = [one.get("/api/workflows") for one in people] + [one.get("/api/workflows/brought-flow") for one in people]
    answers = await asyncio.gather(*looks, people[0].post("/api/workflows?dry_run=1", spec("brought-flow")))

    assert {one.status for one in answers} == {200}
    assert [one["version"] for one in (await people[0].get("/api/workflows/brought-flow"))["versions"]] == [1]


async def test_a_changed_spec_of_a_plugin_becomes_the_next_version(admin: Client, plugin: Brought) -> None:
    plugin.bring(version=1)
    await admin.get("/api/workflows")
    plugin.bring(version=1, title="Changed")
    changed = await asyncio.gather(*(admin.get("/api/workflows/brought-flow") for _ in range(5)))
    plugin.bring(version=7, title="Changed")
    same = await admin.get("/api/workflows/brought-flow")
    plugin.bring(version=7, title="Much newer")
    await admin.get("/api/workflows")

    newest = await admin.get("/api/workflows/brought-flow")

    assert {(one["version"], one["title"]) for one in changed} == {(2, "Changed")}
    assert same["version"] == 2
    assert [one["version"] for one in newest["versions"]] == [7, 2, 1]
    assert (newest["title"], newest["source"]) == ("Much newer", "plugin:brought")


async def test_a_team_that_publishes_its_own_keeps_it(admin: Client, plugin: Brought) -> None:
    plugin.bring()
    own = await published(admin, slug="brought-flow", title="Ours")
    unchanged = await admin.get("/api/workflows/brought-flow")
    plugin.bring(version=5, title="Newer")
    await admin.get("/api/workflows")

    kept = await admin.get("/api/workflows/brought-flow")

    assert (own["version"], own["source"], unchanged["upstream"]) == (2, "team", None)
    assert (kept["version"], kept["title"], kept["source"], kept["upstream"]) == (2, "Ours", "team", {"version": 5})
    merged = await admin.post("/api/workflows", spec("brought-flow", title="Merged"), headers={"if-match": '"2"'})
    assert merged["version"] == 3
    assert (await admin.get("/api/workflows/brought-flow"))["upstream"] is None


async def test_a_workflow_stays_when_its_plugin_goes(house: Application, admin: Client, plugin: Brought) -> None:
    plugin.bring()
    await admin.get("/api/workflows")
    del house.services.registry.plugins["brought"]

    found = await admin.get("/api/workflows/brought-flow")

    assert (found.status, found["source"]) == (200, "plugin:brought")


async def test_a_found_version_is_ready_to_run(house: Application, admin: Client, plugin: Brought) -> None:
    plugin.bring()
    await published(admin, max_steps=2.0)
    who = replace_ids(admin)

    async with Operation(who=who, services=house.services).begin() as ctx:
        brought = await definitions.find(ctx, "brought-flow")
        own = await definitions.find(ctx, "count", 1)
        with pytest.raises(WorkflowMissing):
            await definitions.find(ctx, "count", 2)

    assert (brought.version, brought.source, brought.spec.slug) == (1, "plugin:brought", "brought-flow")
    assert (own.spec.max_steps, own.spec.steps[0].name) == (2, "count")


async def test_the_examples_of_the_guide_are_published(admin: Client) -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/workflows.md").read_text()
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]

    answers = [await admin.post("/api/workflows", one) for one in examples]

    assert [one["slug"] for one in answers] == ["count-words", "count-and-compare"]
    assert {one.status for one in answers} == {201}


def replace_ids(person: Client) -> Any:
    return msgspec.structs.replace(
        ANONYMOUS, user_id=UUID(person.user_id), team_id=UUID(person.team_id), org_id=UUID(person.org_id)
    )


async def test_a_tool_of_the_registry_is_known_with_its_parameters(house: Application, admin: Client) -> None:
    tool = house.services.registry.tools["word_count"]
    step = {"name": "a", "kind": "tool", "tool": "word_count", "with": {"words": 1}}

    answer = await admin.post("/api/workflows", spec(steps=[step], start="a"))

    assert [(one["path"], one["code"]) for one in answer["errors"]] == [
        ("/steps/0/with/words", "unknown_parameter"),
        ("/steps/0/with", "missing_parameter"),
    ]
    house.services.registry.tools["loose_tool"] = replace(
        tool, name="loose_tool", schema={"type": "object", "additionalProperties": {"type": "string"}}
    )
    try:
        loose = step | {"tool": "loose_tool"}
        assert (await admin.post("/api/workflows", spec(steps=[loose], start="a"))).status == 201
    finally:
        del house.services.registry.tools["loose_tool"]


@pytest.mark.timeout(7200)
@settings(max_examples=20_000 if FULL else settings().max_examples, suppress_health_check=list(HealthCheck))
@given(document=changed() | composed())
async def test_any_spec_is_judged_or_refused_over_http(admin: Client, document: Any) -> None:
    judged = await admin.post("/api/workflows?dry_run=1", document)

    assert judged.status in (200, 400), judged.raw
    if judged.status == 400:
        assert judged.code in ("workflows.invalid", "request.invalid"), judged.raw
