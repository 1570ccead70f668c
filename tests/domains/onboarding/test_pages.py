"""Pages: who may read what from elsewhere, what the funnel's page and the template run under, and that no text becomes script."""

import asyncio
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.product.onboarding import template
from atrium.product.onboarding.funnel import BadExperienceFile
from atrium.routes import ROUTES
from atrium.seams.setting_values import Home
from tests.domains.onboarding.conftest import EXPERIENCE, make_first, publish, sign_up
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application, open_application, settings_for
from tests.support.signing_in import in_browser, person
from tests.table.rows import parameters_of

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ELSEWHERE = {"origin": "https://elsewhere.example"}
# What pages of other origins may read, and no other row.
OPEN = {
    "/openapi.json",
    "/beta-sdk.js",
    "/api/beta/asset/:id",
    "/api/beta/config",
    "/api/beta/challenge",
    "/api/beta/signup",
}

CONNECTED = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


async def test_pages_of_other_origins_read_these_rows_and_no_other(house: Application, visitor: Client) -> None:
    opened = set()
    for route in ROUTES:
        path = route.path
        for parameter in reversed(parameters_of(path)):
            path = parameter.rpartition("/")[0] + "/x" + path[len(parameter) :]
        if route.path.startswith("/s3"):
            continue
        replies = [
            await visitor.send(route.method, path, headers=ELSEWHERE),
            await visitor.send("OPTIONS", path, headers=ELSEWHERE | {"access-control-request-method": route.method}),
        ]
        if any("access-control-allow-origin" in reply.headers for reply in replies):
            opened.add(route.path)
        assert not any("access-control-allow-credentials" in reply.headers for reply in replies)
        allowed = replies[1].headers.get("access-control-allow-methods", "")
        assert route.path != "/api/beta/asset/:id" or allowed == "GET"

    assert opened == OPEN


@pytest.mark.parametrize("path", ["/api/beta/config", "/api/beta/challenge", "/api/beta/signup"])
async def test_a_preflight_is_answered_without_a_body(visitor: Client, path: str) -> None:
    reply = await visitor.send("OPTIONS", path, headers=ELSEWHERE)

    assert (reply.status, reply.raw, reply.headers["access-control-allow-origin"]) == (204, b"", "*")
    assert reply.headers["access-control-max-age"] == "600"
    assert "content-type" in reply.headers["access-control-allow-headers"]


async def test_named_origins_alone_may_read_the_form() -> None:
    async with fresh_application(beta_origins="https://ours.example, https://too.example:8443") as house:
        visitor, found = Client(house.app), {}
        for origin in ("https://ours.example", "https://too.example:8443", "null", "https://elsewhere.example", ""):
            reply = await visitor.get("/api/beta/config", headers={"origin": origin} if origin else {})
            found[origin] = reply.headers.get("access-control-allow-origin")
            assert "Origin" in reply.headers["vary"]

    assert found == {
        "https://ours.example": "https://ours.example", "https://too.example:8443": "https://too.example:8443", "null": "null",
        "https://elsewhere.example": None, "": None,
    }  # fmt: skip


TEMPLATE = """<!doctype html><html lang="{{locale}}" dir="{{direction}}"><body>
<h1>{{copy.title}}</h1><img alt="{{ copy.title }}" src="{{asset.logo}}">
<form data-beta><label>{{fields.email.label}} <input name="email"></label><p>{{fields.why.help}}</p></form>
<script src="/beta-sdk.js"></script></body></html>"""


async def test_a_template_is_filled_in_and_sandboxed(owner: Client, visitor: Client) -> None:
    await publish(owner, template=TEMPLATE, judge_prompt="canary-judge")

    english, spanish = await visitor.get("/beta/template"), await visitor.get("/beta/template", locale="es")

    assert b"<h1>Be among the first</h1>" in english.raw
    assert "<h1>Sé de los primeros</h1>" in spanish.raw.decode()
    assert b"Correo" in spanish.raw
    assert [b'<html lang="%s" dir="ltr">' % tag in page.raw for tag, page in ((b"en", english), (b"es", spanish))] == [
        True,
        True,
    ]
    assert b"canary" not in english.raw
    policy = english.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-forms; default-src 'none'; script-src 'self'; ")
    assert "frame-ancestors 'self' https://elsewhere.example" in policy
    assert "x-frame-options" not in english.headers


async def test_editors_see_their_draft_in_the_same_sandbox_and_inside_of_our_own_pages_alone(
    owner: Client, visitor: Client
) -> None:
    await publish(owner, template=TEMPLATE)
    texts = {"copy": {"title": "Drafted", "thanks": "Thank you"}, "judge_prompt": "canary-judge"}
    await owner.put("/api/beta/experience", {"experience": EXPERIENCE | {"template": TEMPLATE} | texts})

    shown, published = await owner.get("/beta/template", draft=1), await visitor.get("/beta/template")
    spanish = await owner.get("/beta/template", draft=1, locale="es")

    assert b"<h1>Drafted</h1>" in shown.raw
    assert b"<h1>Be among the first</h1>" in published.raw
    assert b"Correo" in spanish.raw
    assert b"canary" not in shown.raw
    assert shown.headers["cache-control"] == "no-store"
    policy, usual = (reply.headers["content-security-policy"] for reply in (shown, published))
    assert policy == usual.replace(" https://elsewhere.example", "")
    assert policy.endswith("frame-ancestors 'self'")


async def test_a_draft_is_shown_to_its_editors_and_to_no_other(
    owner: Client, company: Company, visitor: Client
) -> None:
    await publish(owner)
    other = await found_company(company.house)
    people = {
        "visitor": visitor,
        "member": await company.join("member"),
        "narrow": await company.join("owner", scope=["notes:read"]),
        "elsewhere": await other.join("owner", org_role="org_owner"),
        "wrong": replace(visitor, token="atr_" + "x" * 43),
    }

    found = {name: (await person.get("/beta/template", draft=1)).status for name, person in people.items()}

    assert found == {"visitor": 401, "member": 403, "narrow": 403, "elsewhere": 404, "wrong": 401}
    assert (await visitor.get("/beta/template", draft=0)).status == 200


async def test_a_draft_comes_with_the_consoles_session_from_our_own_pages_alone(
    owner: Client, company: Company
) -> None:
    await publish(owner)
    editor = await in_browser(await person(company, "admin"))

    found = {}
    for site in ("same-origin", "same-site", "cross-site", "none"):
        found[site] = (await replace(editor, site=site).get("/beta/template", draft=1)).status

    assert found == {"same-origin": 200, "same-site": 401, "cross-site": 401, "none": 200}


async def test_the_form_looks_the_same_to_people_of_a_company_with_colours_of_its_own(
    owner: Client, company: Company, visitor: Client
) -> None:
    await publish(owner, theme={})
    editor = await in_browser(await person(company, "admin"))
    await owner.put("/api/org/branding", {"theme": {"bg": "#fffbe6"}})

    shown = [
        await visitor.get("/beta/template"),
        await editor.get("/beta/template"),
        await editor.get("/beta/template", draft=1),
    ]

    assert [b"#fffbe6" in reply.raw for reply in shown] == [False, False, False]


VECTORS = [
    wrapped.format(code)
    for code in ("<script>canary()</script>", "<img src=x onerror=canary()>", "<svg onload=canary()>", "</title><script>canary()//",
                 '" onfocus="canary()" autofocus="', "' onclick='canary()", "javascript:canary()", "</script><script>canary()",
                 "<!--><script>canary()</script>", "{{{{copy.title}}}}")
    for wrapped in ("{}", "x{}", "{}y", "\u202e{}", "&lt;{}", "\"{}\"", "'{}'", "</h1>{}", "--&gt;{}", "\n{}")
]  # fmt: skip


class _Scripts(HTMLParser):
    """Counts what would run."""

    def __init__(self) -> None:
        super().__init__()
        self.running = 0
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        self.running += sum(name.startswith("on") for name, _ in attrs)
        self.running += sum("javascript:" in (value or "") for name, value in attrs if name in ("src", "href"))

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        self.running += self._in_script and "canary" in data and "application/json" not in data


@pytest.mark.parametrize("vector", VECTORS)
def test_no_text_of_an_operator_becomes_script(vector: str) -> None:
    reader = _Scripts()

    # A file's address is made by the server; everything else is text that an operator writes.
    reader.feed(template.fill(TEMPLATE, lambda kind, name: "/api/beta/asset/x" if kind == "asset" else vector))

    assert reader.running == 0


def test_there_are_a_hundred_vectors_and_the_reader_sees_one_that_runs() -> None:
    reader = _Scripts()

    reader.feed("<p onclick='x'><script>canary()</script>")

    assert (len(VECTORS), reader.running) == (100, 2)


@pytest.mark.parametrize(
    "sent",
    [
        "<script>x</script>",
        "<SCRIPT >x</SCRIPT>",
        "<svg><script>x</script></svg>",
        "<script src='/x'>{{copy.title}}</script>",
        "<a href='{{copy.title}}'>x</a>",
        '<a href="javascript:{{copy.title}}">x</a>',
        "<p onclick='{{copy.title}}'>x</p>",
        "<p style='{{copy.title}}'>x</p>",
        "<style>{{copy.title}}</style>",
        "<p title={{copy.title}}>x</p>",
        "<!-- {{copy.title}} -->",
        "<iframe srcdoc='{{copy.title}}'></iframe>",
        "{{copy.__class__}}",
        "{{fields.email.type}}",
        "{{judge_prompt}}",
        "{{}}",
        "{{asset.other}}",
        "x" * 270_000,
    ],
)
async def test_a_template_that_cannot_be_filled_in_safely_is_refused(owner: Client, sent: str) -> None:
    refused = await owner.put("/api/beta/experience", {"experience": EXPERIENCE | {"template": sent}})

    assert (refused.status, refused.code) == (400, "onboarding.bad_experience"), sent


async def test_the_sdk_is_small_and_for_every_page(visitor: Client) -> None:
    packed = await visitor.get("/beta-sdk.js", headers={"accept-encoding": "gzip"})
    plain = await visitor.get("/beta-sdk.js")

    assert len(packed.raw) < 6_000
    assert plain.headers["content-type"].startswith("text/javascript")
    assert (plain.headers["cross-origin-resource-policy"], plain.headers["access-control-allow-origin"]) == (
        "cross-origin",
        "*",
    )
    assert not any(word in plain.raw for word in (b"eval(", b"Worker(", b"innerHTML", b"blob:", b"new Function"))


async def test_the_root_shows_the_form_when_it_is_told_to() -> None:
    async with fresh_application(home=Home.BETA) as house:
        fresh = await Client(house.app).get("/")
        await make_first(await found_company(house))
        shown = await Client(house.app).get("/", headers={"accept-language": "nl"})

    # Before that, the console's first screen sets the instance up.
    assert (fresh.status, b'id="funnel"' in fresh.raw, b'id="boot"' in fresh.raw) == (200, False, True)

    assert (shown.status, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert len(shown.raw) < 30_000
    assert b'lang="nl"' in shown.raw
    assert "trusted-types 'none'" in shown.headers["content-security-policy"]


async def test_the_form_has_the_logo_as_its_icon_and_else_none(owner: Client, visitor: Client) -> None:
    await publish(owner)
    plain = await visitor.get("/beta/template")
    logo = (await owner.post("/api/beta/assets", {"kind": "logo", "data": PICTURE}))["id"]
    await publish(owner, assets={"logo": logo})

    shown = await visitor.get("/beta/template")

    assert b'<link rel="icon" href="data:,">' in plain.raw
    assert f'<link rel="icon" href="/api/beta/asset/{logo}">'.encode() in shown.raw
    assert "img-src 'self' data:;" in shown.headers["content-security-policy"]


async def test_no_public_reply_says_anything_of_the_judge_the_gate_or_who_may_embed(tmp_path: Path) -> None:
    file = tmp_path / "experience.json"
    hidden = {"judge_prompt": "canary-judge", "embed_origins": ["https://canary.example"]}
    file.write_text(json.dumps(EXPERIENCE | hidden))
    async with fresh_application(
        home=Home.BETA, beta_experience=str(file), beta_proof_cost=1, beta_proof_tries=1
    ) as house:
        await make_first(await found_company(house))
        visitor = Client(house.app)
        received = await sign_up(visitor, "canary@mailinator.com", hp="canary", elapsed_ms=1)
        again = await sign_up(visitor, "canary@mailinator.com")
        paths = ("/", "/beta/template", "/api/beta/config", "/api/beta/challenge", "/beta-sdk.js")
        shown = {path: await visitor.get(path) for path in paths}
        preflights = [await visitor.send("OPTIONS", f"/api/beta/{row}") for row in ("config", "challenge", "signup")]

    replies = [received, again, *shown.values(), *preflights]
    assert [reply.status for reply in replies] == [202, 202, *[200] * 5, *[204] * 3]
    assert b"Be among the first" in shown["/"].raw
    for reply in replies:
        assert not any(word in reply.raw for word in (b"canary", b"judge", b"honeypot", b"disposable", b"suspect"))
    # A browser has to be told who may embed the form, by the form alone.
    told = {path for path, reply in shown.items() if "canary" in str(reply.headers)}
    assert told == {"/beta/template"}


async def test_one_network_gets_so_many_challenges_a_minute() -> None:
    async with fresh_application(rate_challenges=3, beta_proof_cost=1, beta_proof_tries=1) as house:
        await make_first(await found_company(house))
        neighbours = ["2001:db8:0:7::1", "2001:db8:0:7::2", "2001:db8:0:7:ffff::3", "2001:db8:0:7::4"]
        replies = [await Client(house.app, address=one).get("/api/beta/challenge") for one in neighbours]
        others = [
            await Client(house.app, address=one).get("/api/beta/challenge") for one in ("2001:db8:0:8::1", "192.0.2.1")
        ]

    assert [reply.status for reply in replies] == [200, 200, 200, 429]
    assert (replies[3].code, int(replies[3].headers["retry-after"]) > 0) == ("limits.rate", True)
    # A page of another origin has to be able to read how long to wait.
    assert replies[3].headers["access-control-allow-origin"] == "*"
    assert [reply.status for reply in others] == [200, 200]


@pytest.mark.parametrize(("text", "told"), [('{"fields": []}', "fields"), (None, "No such file")])
async def test_a_file_of_the_settings_that_cannot_be_shown_stops_the_start_and_leaves_nothing_at_work(
    tmp_path: Path, text: str | None, told: str
) -> None:
    file = tmp_path / "experience.json"
    if text is not None:
        file.write_text(text)

    async with fresh_database() as url:
        with pytest.raises(BadExperienceFile) as refused:
            async with open_application(settings_for(url, beta_experience=str(file))):
                pass
        # A server process ends a moment after its connection was closed.
        async with asyncio.timeout(PATIENCE):
            while await run_as_owner(url, CONNECTED):
                await asyncio.sleep(0.05)

    assert f"SERVICE_BETA_EXPERIENCE={file} cannot be used: " in str(refused.value)
    assert told in str(refused.value)


async def test_nothing_is_there_before_the_instance_is_set_up() -> None:
    async with fresh_application() as house:
        visitor = Client(house.app)
        replies = [await visitor.get(path) for path in ("/api/beta/config", "/api/beta/challenge", "/beta/template")]
        signed = await visitor.post("/api/beta/signup", {"fields": {}, "proof": ""})

    assert {reply.status for reply in (*replies, signed)} == {404}


async def test_a_page_of_the_sandbox_signs_up_over_cors(owner: Client, visitor: Client) -> None:
    await publish(owner)

    reply = await sign_up(visitor, "ada@example.com")

    assert (reply.status, reply.headers["access-control-allow-origin"]) == (202, "*")
