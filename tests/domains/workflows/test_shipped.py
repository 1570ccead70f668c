"""The workflows that come with the server."""

import pytest

from atrium.boot.assemble import Application
from atrium.seams.tools import schema_of
from atrium.seams.wiring import LoadedPlugin
from atrium.seams.workflows import ChoiceStep, problems_in
from tests.support.client import Client

# Slug, plugin, version, most steps, first step, inputs.
SHIPPED = [
    ("index-documents", "doc-indexer", 1, 50, "find", {}),
    ("index-knowledge", "knowledge-graph", 1, 50, "find", {}),
    ("process-upload", "doc-pipeline", 1, 40, "text",
     {"locales": "array", "object_id": "string", "schema": "object", "template": "string"}),
    ("translate-chat", "translate-chat", 1, 20, "chat", {"message": "string"}),
]  # fmt: skip


def plugin_of(house: Application, id: str) -> LoadedPlugin:
    return house.services.registry.plugins[id]


@pytest.mark.parametrize(("slug", "plugin", "version", "most", "start", "inputs"), SHIPPED)
async def test_a_team_finds_a_shipped_workflow(
    alice: Client, slug: str, plugin: str, version: int, most: int, start: str, inputs: dict[str, str]
) -> None:
    found = await alice.get(f"/api/workflows/{slug}")

    assert (found["source"], found["version"]) == (f"plugin:{plugin}", version)
    assert (found["spec"]["max_steps"], found["spec"]["start"]) == (most, start)
    assert {name: (one["type"], one["optional"]) for name, one in found["inputs"].items()} == {
        name: (kind, False) for name, kind in inputs.items()
    }


@pytest.mark.parametrize("id", [one[1] for one in SHIPPED])
def test_a_shipped_workflow_calls_its_tools_as_they_are(house: Application, id: str) -> None:
    tools = {name: schema_of(tool) for name, tool in house.services.registry.tools.items()}
    [spec] = plugin_of(house, id).workflows
    if any(step.tool not in tools for step in spec.steps if not isinstance(step, ChoiceStep)):
        pytest.skip("its tools are not part of this server")

    assert [problems_in(document, tools) for document in plugin_of(house, id).plugin.workflows] == [[]]


async def test_plugins_are_listed_with_their_workflows(alice: Client) -> None:
    listed = {one["id"]: one["workflows"] for one in (await alice.get("/api/plugins"))["items"]}

    assert {id: listed[id] for _, id, *_ in SHIPPED} == {id: [slug] for slug, id, *_ in SHIPPED}
