"""Plugins: the shipped example over HTTP, and broken ones that fail alone, with a reason, leaving nothing behind."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from atrium.boot.assemble import Application, assemble
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.plugin_folders import MANIFEST, write_plugin
from tests.support.servers import open_application, settings_for

COUNT = "/api/x/example-tools/word-count"
HANDLER = "async def handler(ctx, request): ..."
ROUTE = "PLUGIN = Plugin(routes=(PluginRoute({}),))"
TOOL = 'PLUGIN = Plugin(tools=(Tool(name="probe", description="x", permission="chat:use", effect="read", run=run{}),))'


@pytest.fixture(scope="module")
async def plugin_house(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A house with one whole plugin and one broken one of its own."""
    root = tmp_path_factory.mktemp("plugins")
    write_plugin(root, "whole-probe")
    write_plugin(root, "broken-probe", 'raise RuntimeError("no luck")')
    async with open_application(settings_for(database_url, plugins_dir=str(root))) as house:
        yield house


@pytest.fixture
async def visitor(plugin_house: Application) -> Client:
    return await (await found_company(plugin_house)).join("member")


async def test_the_example_counts_words_from_the_query(alice: Client) -> None:
    answer = await alice.get(COUNT, text="one two\nthree")

    assert (answer.status, answer.body) == (200, {"words": 3, "characters": 13, "lines": 2})


async def test_the_example_counts_words_from_the_body(alice: Client) -> None:
    answer = await alice.post(COUNT, {"text": "ein Wort 🌍"})

    assert (answer.status, answer["words"]) == (200, 3)


async def test_a_plugins_route_needs_a_credential(nobody: Client) -> None:
    assert (await nobody.get(COUNT, text="x")).status == 401


async def test_a_plugins_route_checks_its_permission_before_anything_else(company: Company) -> None:
    viewer = await company.join("viewer")

    answers = [
        await viewer.get(COUNT),
        await viewer.post(COUNT, {"text": 7}),
        await viewer.post(COUNT, b"{"),
        await viewer.get(f"{COUNT}?a=1&a=2"),
    ]

    assert {(answer.status, answer.code) for answer in answers} == {(403, "access.permission_missing")}


@pytest.mark.parametrize(
    "body", [None, {}, {"text": 7}, [], "text", {"text": "x" * 1_000_001}, {"text": "x", "more": 1}]
)
async def test_a_body_that_is_not_what_the_row_names_never_reaches_the_handler(alice: Client, body: object) -> None:
    answer = await alice.post(COUNT, body)

    assert (answer.status, answer.code, len(answer["errors"])) == (400, "request.invalid", 1)


@pytest.mark.parametrize(("query", "path"), [("", "text"), ("?text=a&more=1", "more")])
async def test_a_query_is_held_to_what_the_row_names(alice: Client, query: str, path: str) -> None:
    answer = await alice.get(COUNT + query)

    assert (answer.status, answer.code) == (400, "request.invalid")
    assert [error["path"] for error in answer["errors"]] == [path]


async def test_what_the_caller_did_wrong_is_answered_in_the_plugins_words(alice: Client) -> None:
    answer = await alice.post("/api/x/integrator-demo/eta", {"lane": "MARS-VENUS"})

    assert (answer.status, answer.code) == (400, "plugins.refused")
    assert "there is no lane MARS-VENUS" in answer["detail"]


async def test_the_document_describes_a_plugins_row_like_one_of_the_core(house: Application) -> None:
    document = msgspec.json.decode(house.services.registry.openapi)
    read, posted = document["paths"][COUNT]["get"], document["paths"][COUNT]["post"]

    assert (read["operationId"], posted["operationId"]) == (
        "example-tools.get_word_count", "example-tools.post_word_count",
    )  # fmt: skip
    [text] = read["parameters"]
    assert (text["name"], text["required"], text["description"]) == ("text", True, "The text to count.")
    body = posted["requestBody"]
    assert body["required"]
    assert body["content"]["application/json"]["example"] == {"text": "to be or not to be"}
    assert "Text" in document["components"]["schemas"], "a type of the core lost its name to a plugin's"
    assert document["components"]["schemas"]["example-tools.Counts"]["required"] == ["words", "characters", "lines"]


@pytest.mark.parametrize("raw", [b"{", b"\xff", b'{"text": "a\\u0000b"}', b'{"text": "\\u0000"'])
async def test_a_body_that_is_no_json_is_refused_before_the_plugin(alice: Client, raw: bytes) -> None:
    answer = await alice.post(COUNT, raw)

    assert (answer.status, answer.code) == (400, "request.invalid")


async def test_a_backslash_before_the_letters_is_no_escape(alice: Client) -> None:
    answer = await alice.post(COUNT, rb'{"text": "a\\u0000b"}')

    assert (answer.status, answer["characters"]) == (200, 8)


async def test_another_method_is_told_which_ones_there_are(alice: Client) -> None:
    answer = await alice.delete(COUNT)

    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")


async def test_loaded_plugins_are_listed_with_what_they_brought(alice: Client) -> None:
    [example] = [item for item in (await alice.get("/api/plugins"))["items"] if item["id"] == "example-tools"]

    assert (example["name"], example["version"], example["tools"]) == ("Example tools", "0.1.0", ["word_count"])
    assert example["routes"] == [f"GET {COUNT}", f"POST {COUNT}"]
    assert (example["workflows"], bool(example["description"])) == ([], True)


async def test_a_plugin_in_the_operators_folder_is_loaded_like_a_shipped_one(visitor: Client) -> None:
    echoed = await visitor.get("/api/x/whole-probe/echo", text="hi", n="1")

    assert (echoed.status, echoed["query"]) == (200, {"text": "hi", "n": "1"})
    assert "whole-probe" in [item["id"] for item in (await visitor.get("/api/plugins"))["items"]]
    assert "whole_probe_echo" in [item["name"] for item in (await visitor.get("/api/tools"))["items"]]


async def test_each_route_of_a_plugin_has_its_own_permission(plugin_house: Application, visitor: Client) -> None:
    admin = await (await found_company(plugin_house)).join("admin")

    echoed = await admin.post("/api/x/whole-probe/echo/grüße", {"deep": [1, None, "x"]})

    assert (await visitor.post("/api/x/whole-probe/echo/x", {})).status == 403
    assert echoed.body == {"params": {"name": "grüße"}, "query": {}, "body": {"deep": [1, None, "x"]}}


async def test_a_user_error_carries_its_facts(visitor: Client) -> None:
    answer = await visitor.get("/api/x/whole-probe/complain")

    assert (answer.status, answer["detail"]) == (400, "you did that")
    assert answer["errors"] == [{"path": "text", "message": "no"}]


async def test_the_reference_shows_a_plugins_own_words(visitor: Client) -> None:
    assert b"Echo the query." in (await visitor.get("/docs")).raw


def test_a_plugin_brings_a_workflow_an_experience_and_pages(tmp_path: Path) -> None:
    home = write_plugin(tmp_path, "probe", "PLUGIN = Plugin(workflows=(FLOW,), onboarding={'fields': [EMAIL]})")
    (home / "landing").mkdir()
    (home / "bundle").write_text("a file is no folder of pages")

    loaded = assembled(tmp_path).services.registry.plugins["probe"]

    assert [spec.slug for spec in loaded.workflows] == ["probe-flow"]
    assert loaded.onboarding is not None
    assert list(loaded.bundles) == ["landing"]


def test_a_slug_that_another_plugin_brought_is_taken(tmp_path: Path) -> None:
    for id in ("first", "second"):
        write_plugin(tmp_path, id, "PLUGIN = Plugin(workflows=(FLOW,))")

    registry = assembled(tmp_path).services.registry

    assert ("first" in registry.plugins, registry.failed_plugins) == (
        True, {"second": "workflow probe-flow: the slug is taken"},
    )  # fmt: skip


async def test_a_broken_plugin_fails_alone(plugin_house: Application, visitor: Client) -> None:
    assert "broken-probe" not in [item["id"] for item in (await visitor.get("/api/plugins"))["items"]]
    assert (await visitor.get("/api/x/broken-probe/echo")).code == "request.no_route"
    assert (await visitor.get("/api/x/whole-probe/echo")).status == 200
    assert (await visitor.get(COUNT, text="x")).status == 200


async def test_an_operator_reads_why_a_plugin_failed(plugin_house: Application) -> None:
    operator = await (await found_company(plugin_house)).join("owner", operator=True)

    status = await operator.get("/api/admin/status")

    assert status["failed_plugins"]["broken-probe"].startswith("RuntimeError: no luck (plugin.py:")


def assembled(root: Path) -> Application:
    return assemble(settings_for("postgres://unused", plugins_dir=str(root)))


def left_behind(house: Application, id: str) -> list[str]:
    """Every trace a plugin could leave: a tool, a route, a card, a module."""
    registry, module = house.services.registry, f"atrium_plugins.{id.replace('-', '_')}"
    return [
        *(tool.name for tool in registry.tools.values() if tool.source == f"plugin:{id}"),
        *(endpoint.route.path for endpoint in house.endpoints if endpoint.route.path.startswith(f"/api/x/{id}/")),
        *(loaded for loaded in registry.plugins if loaded == id),
        *(name for name in sys.modules if name == module or name.startswith(module + ".")),
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ('raise RuntimeError("no luck")', "RuntimeError: no luck (plugin.py:"),
        ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def oops(:", "SyntaxError"),
        ("del PLUGIN", "plugin.py has no PLUGIN = Plugin(...)"),
        ("PLUGIN = {'tools': ()}", "plugin.py has no PLUGIN = Plugin(...)"),
        ("PLUGIN = Plugin(tools=(TOOL, TOOL))", "tool probe_echo: the name is taken"),
        ("PLUGIN = Plugin(tools=(1,))", "1 is not a Tool"),
        ("PLUGIN = Plugin(tools=None)", "NoneType"),
        (TOOL.format("").replace("probe", "word_count"), "tool word_count: the name is taken"),
        (TOOL.format("").replace("probe", "Word Count"), "a name is lower_snake_case"),
        (TOOL.format("").replace("chat:use", "chat:abuse"), "tool probe: unknown permission chat:abuse"),
        (TOOL.format("").replace("run=run", "run=len"), "run must be async"),
        (TOOL.format("").replace("run=run", "run=answer"), "run must be async and take (db, principal, arguments)"),
        (TOOL.format("").replace(', effect="read"', ""), "tool probe: must say its effect: read, write or egress"),
        (TOOL.format("").replace('"read"', '"none"'), "tool probe: must say its effect: read, write or egress"),
        (TOOL.format(", perform=answer"), "tool probe: has one of run, act and perform"),
        (TOOL.format("").replace(", run=run", ""), "tool probe: has one of run, act and perform"),
        (TOOL.format("").replace("run=run", "perform=run"), "perform must be async and take (operation, arguments)"),
        (
            TOOL.format("").replace("run=run", "perform=answer").replace('"read"', '"write"'),
            "perform with the effect write must return a RecordedResult",
        ),
        (TOOL.format(", seconds=0"), "tool probe: seconds are more than 0 and at most 900"),
        (TOOL.format("").replace('description="x"', 'description=""'), "tool probe: needs a description"),
        (TOOL.format(", parameters=('text',)"), "tool probe: parameters must be Parameters"),
        (TOOL.format(", parameters=(Parameter(name='x', type=len),)"), "tool probe: parameters must be Parameters"),
        ("PLUGIN = Plugin(routes=('/echo',))", "'/echo' is not a PluginRoute"),
        (ROUTE.format('"GET", "/a", "chat:abuse", answer, "x"'), "route GET /a: unknown permission chat:abuse"),
        (ROUTE.format('"GET", "/bundle", "chat:use", answer, "x"'), "route GET /bundle: bundle/ is reserved"),
        (ROUTE.format('"GET", "/bundle/app.js", "chat:use", answer, "x"'), "bundle/ is reserved"),
        (ROUTE.format('"GET", "no-slash", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "/../../api/notes", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "//evil", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "/a/", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "/*rest", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "/a\\\\n", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"BREW", "/a", "chat:use", answer, "x"'), "malformed method or path"),
        (ROUTE.format('"GET", "/:id/:id", "chat:use", answer, "x"'), "names a parameter twice"),
        (ROUTE.format('"GET", "/a", "chat:use", len, "x"'), "the handler must be async and take (context, request)"),
        (ROUTE.format('"GET", "/a", "chat:use", run, "x"'), "the handler must be async and take (context, request)"),
        (ROUTE.format('"GET", "/a", "chat:use", answer, ""'), "route GET /a: needs a doc line"),
        ("PLUGIN = Plugin(routes=(ROUTES[0], ROUTES[0]))", "route GET /echo: declared twice"),
        (
            "PLUGIN = Plugin(routes=tuple(PluginRoute('GET', path, 'chat:use', answer, 'x') for path in ('/a-b', '/a/b')))",
            "route GET /a/b: too much like route GET /a-b",
        ),
        (ROUTE.format('"GET", "/a", "chat:use", answer, "x", body=Plugin'), "query and body must be msgspec structs"),
        (ROUTE.format('"GET", "/a", "chat:use", answer, "x", query=7'), "query and body must be msgspec structs"),
        (ROUTE.format('"GET", "/a", "chat:use", answer, "x", body=type(TURN)'), "route GET /a: GET takes no body"),
        ("PLUGIN = Plugin(workflows=(FLOW, FLOW))", "workflow probe-flow: the slug is taken"),
        ("PLUGIN = Plugin(workflows=({'slug': 'x'},))", "workflow x: needs start, max_steps, steps"),
        ("PLUGIN = Plugin(workflows=(7,))", "workflow 7: must be of type object"),
        ("PLUGIN = Plugin(workflows=({**FLOW, 'start': 'end'},))", "/start: no step is named end"),
        ("PLUGIN = Plugin(workflows=({**FLOW, 'colour': 'red'},))", ": unknown: 'colour'"),
        ("PLUGIN = Plugin(workflows=({**FLOW, 'steps': FLOW['steps'] * 2},))", "/steps/1/name: a step before is named one too"),
        ("PLUGIN = Plugin(workflows=({**FLOW, 'steps': [CHOICE]},))", "/steps/0/then: one does not come after one"),
        ("PLUGIN = Plugin(onboarding={'fields': []})", "onboarding: Expected `array` of length >= 1"),
        ("PLUGIN = Plugin(onboarding={'fields': [EMAIL, EMAIL]})", "onboarding: two fields have the same name"),
        ("PLUGIN = Plugin(onboarding={'fields': [{**EMAIL, 'required': False}]})", "exactly one field is of type email"),
        ("PLUGIN = Plugin(onboarding={'fields': [EMAIL, {**EMAIL, 'name': 'hp', 'type': 'text'}]})", "can be named hp"),
        ("PLUGIN = Plugin(onboarding={'fields': [EMAIL], 'judge_prompt': 'x' * 300_000})", "more than 262144 bytes"),
    ],
)  # fmt: skip
def test_a_plugin_with_a_fault_is_refused_by_name_and_leaves_nothing(tmp_path: Path, code: str, reason: str) -> None:
    write_plugin(tmp_path, "probe", code)

    house = assembled(tmp_path)

    assert reason in house.services.registry.failed_plugins["probe"]
    assert left_behind(house, "probe") == []
    assert "example-tools" in house.services.registry.plugins


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ("", "missing required field `id`"),
        ("id = ", "Invalid"),
        (MANIFEST.format(id="Probe"), "$.id"),
        (MANIFEST.format(id="../probe"), "$.id"),
        (MANIFEST.format(id="probe").replace("0.1.0", "one"), "$.version"),
        (MANIFEST.format(id="probe").replace("plugin.py", "../other.py"), "$.entry"),
        (MANIFEST.format(id="probe").replace("plugin.py", "/etc/passwd"), "$.entry"),
        (MANIFEST.format(id="probe").replace("plugin.py", "absent.py"), "entry absent.py is not a file in the plugin"),
        (MANIFEST.format(id="probe") + 'colour = "red"\n', "unknown field `colour`"),
        (MANIFEST.format(id="other"), "plugin.toml says id other, but the folder is probe"),
    ],
)
def test_a_bad_manifest_is_refused_by_name(tmp_path: Path, manifest: str, reason: str) -> None:
    write_plugin(tmp_path, "probe", manifest=manifest)

    house = assembled(tmp_path)

    assert reason in house.services.registry.failed_plugins["probe"]
    assert left_behind(house, "probe") == left_behind(house, "other") == []


def test_an_entry_that_is_a_symlink_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    home = write_plugin(tmp_path, "probe")
    (home / "plugin.py").rename(tmp_path / "outside.py")
    (home / "plugin.py").symlink_to(tmp_path / "outside.py")

    house = assembled(tmp_path)

    assert "is not a file in the plugin" in house.services.registry.failed_plugins["probe"]


def test_a_second_plugin_of_one_id_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    write_plugin(tmp_path, "example-tools")

    house = assembled(tmp_path)

    assert house.services.registry.failed_plugins["example-tools"] == "a plugin example-tools is loaded already"
    assert house.services.registry.plugins["example-tools"].name == "Example tools"
    assert "example_tools_echo" not in house.services.registry.tools


def test_a_plugin_imports_its_own_modules_and_a_failing_one_takes_them_along(tmp_path: Path) -> None:
    write_plugin(tmp_path, "good-probe", "from .part import VALUE")
    write_plugin(tmp_path, "bad-probe", "from .part import VALUE\nraise RuntimeError(VALUE)")
    for id in ("good-probe", "bad-probe"):
        (tmp_path / id / "part.py").write_text(f'VALUE = "part of {id}"\n')

    house = assembled(tmp_path)

    assert "part of bad-probe" in house.services.registry.failed_plugins["bad-probe"]
    assert left_behind(house, "bad-probe") == []
    assert sys.modules["atrium_plugins.good_probe.part"].VALUE == "part of good-probe"


def test_a_folder_without_a_manifest_is_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "plugin.py").write_text("raise RuntimeError('never run')")

    house = assembled(tmp_path)

    assert house.services.registry.failed_plugins == {}


def test_a_folder_that_is_not_there_stops_nothing(tmp_path: Path) -> None:
    house = assembled(tmp_path / "absent")

    assert "example-tools" in house.services.registry.plugins


async def test_a_plugin_cannot_take_a_core_address(database_url: str, tmp_path: Path) -> None:
    write_plugin(
        tmp_path,
        "shadow",
        ROUTE.format('"GET", "/api/notes", "chat:use", answer, "Try."'),
    )

    async with open_application(settings_for(database_url, plugins_dir=str(tmp_path))) as house:
        member = await (await found_company(house)).join("member")

        assert (await member.get("/api/notes")).body == {"items": [], "next_cursor": None}
        assert (await member.get("/api/x/shadow/api/notes"))["params"] == {}


def test_a_pip_installed_plugin_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_plugin(tmp_path, "pip-probe", folder="pip_probe_package")
    (package / "__init__.py").write_text("")
    declare(tmp_path, "pip-probe = pip_probe_package")
    monkeypatch.syspath_prepend(tmp_path)

    house = assemble(settings_for("postgres://unused"))

    assert "pip-probe" in house.services.registry.plugins
    assert house.services.registry.failed_plugins == {}


@pytest.mark.parametrize("value", ["no_such_package", "no_such_package.deeper", "json:loads", "json.decoder"])
def test_an_entry_point_to_nothing_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    declare(tmp_path, f"lost = {value}")
    monkeypatch.syspath_prepend(tmp_path)

    house = assemble(settings_for("postgres://unused"))

    assert value in house.services.registry.failed_plugins["lost"]
    assert "example-tools" in house.services.registry.plugins


def declare(root: Path, line: str) -> None:
    """What pip leaves behind for an installed package."""
    info = root / "probe-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[atrium.plugins]\n{line}\n")
