"""Experiences: saved, published, kept as versions, and shown in the visitor's language without what is not theirs."""

import json
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.kit.ids import NIL
from atrium.product.onboarding import experience
from tests.domains.onboarding.conftest import EXPERIENCE, publish
from tests.support.client import Client
from tests.support.people import Company, found_company


async def test_a_draft_is_seen_by_visitors_once_it_is_published(owner: Client, visitor: Client) -> None:
    before = await owner.get("/api/beta/experience")
    none = await owner.post("/api/beta/experience/publish")
    first = await publish(owner)
    await owner.put("/api/beta/experience", {"experience": EXPERIENCE | {"copy": {"title": "Later"}, "locales": {}}})

    shown, draft = await visitor.get("/api/beta/config"), await owner.get("/api/beta/experience")
    second = (await owner.post("/api/beta/experience/publish"))["version"]

    assert (before["state"], before["published"], none.status, none.code) == (
        "seeded",
        None,
        409,
        "onboarding.no_draft",
    )
    assert (first, second, shown["version"], shown["copy"]["title"]) == (1, 2, 1, "Be among the first")
    assert (draft["state"], draft["experience"]["copy"], draft["published"]["version"]) == (
        "draft",
        {"title": "Later"},
        1,
    )
    assert (await visitor.get("/api/beta/config"))["copy"]["title"] == "Later"
    old = await owner.get("/api/beta/experience", version=1)
    assert (old["state"], old["experience"]["copy"], [one["version"] for one in old["versions"]]) == (
        "version", EXPERIENCE["copy"], [2, 1],
    )  # fmt: skip
    assert (await owner.get("/api/beta/experience", version=9)).status == 404


async def test_an_editor_with_an_old_copy_overwrites_nothing(owner: Client) -> None:
    first = await owner.put("/api/beta/experience", {"experience": EXPERIENCE})
    tag = first.headers["etag"]

    again = await owner.put("/api/beta/experience", {"experience": EXPERIENCE}, headers={"if-match": tag})
    stale = await owner.put("/api/beta/experience", {"experience": EXPERIENCE}, headers={"if-match": tag})

    assert (first.status, again.status, stale.status) == (200, 200, 412)
    assert (await owner.get("/api/beta/experience")).headers["etag"] == f'"{again["revision"]}"'


async def test_the_public_part_is_in_one_language_and_holds_no_secret(owner: Client, visitor: Client) -> None:
    await publish(owner, judge_prompt="canary-judge", embed_origins=["https://canary.example"])

    spanish = await visitor.get("/api/beta/config", locale="es-MX")
    asked = await visitor.get("/api/beta/config", headers={"accept-language": "fr, es;q=0.8"})
    other = await visitor.get("/api/beta/config", locale="de")

    assert (spanish["locale"], spanish["copy"]) == ("es", {"title": "Sé de los primeros", "thanks": "Thank you"})
    assert (asked["locale"], other["locale"], other["copy"]["title"]) == ("es", "en", "Be among the first")
    fields = {one["name"]: one for one in spanish["fields"]}
    assert (fields["email"]["label"], fields["why"]["label"]) == ("Correo", "Why?")
    assert fields["size"]["options"][2] == {"value": "more", "label": "más"}
    assert spanish["theme"]["accent"] == "#0f766e"
    assert set(spanish.body) == {"locale", "version", "fields", "copy", "theme", "assets"}
    assert b"canary" not in spanish.raw + asked.raw + other.raw
    assert spanish.headers["etag"] != other.headers["etag"]


EMAIL = EXPERIENCE["fields"][0]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"fields": []}, "fields"),
    ({"fields": [EMAIL, EMAIL]}, "same name"),
    ({"fields": [EMAIL | {"required": False}]}, "required"),
    ({"fields": [EMAIL, {"name": "hp", "type": "text", "label": "x"}]}, "hp"),
    ({"fields": [EMAIL, {"name": "a", "type": "select", "label": "x"}]}, "options"),
    ({"fields": [EMAIL, {"name": "a", "type": "text", "label": "x", "options": ["y"]}]}, "options"),
    ({"fields": [EMAIL, {"name": "A b", "type": "text", "label": "x"}]}, "regex"),
    ({"fields": [EMAIL, *({"name": f"f{n}", "type": "text", "label": "x"} for n in range(30))]}, "length"),
    ({"copy": {"title": 1}}, "str"),
    ({"copy": {"<b>": "x"}}, "regex"),
    ({"theme": {"accent": "red"}}, "#rrggbb"),
    ({"theme": {"text": "#ffffff"}}, "contrast"),
    ({"theme": {"background": "url(x)"}}, "known token"),
    ({"locales": {"es": {"copy": {"other": "x"}}}}, "copy has no other"),
    ({"locales": {"es": {"fields": {"size": {"options": ["x"]}}}}}, "as many labels"),
    ({"locales": {"../etc": {}}}, "regex"),
    ({"embed_origins": ["*"]}, "regex"),
    ({"embed_origins": ["https://a.example; script-src *"]}, "regex"),
    ({"assets": {"logo": "../x"}}, "UUID"),
    ({"assets": {"logo": "01920000-0000-7000-8000-000000000001"}}, "upload these files first"),
    ({"template": "<p>{{copy.unknown}}</p>"}, "stands for nothing"),
    ({"template": "<script>x</script>"}, "script element has text"),
    ({"judge_prompt": "x" * 300_000}, "262144"),
    ({"gate": {}}, "unknown field"),
]


@pytest.mark.parametrize(("change", "told"), WRONG)
async def test_what_cannot_be_shown_is_refused_with_its_place(owner: Client, change: dict[str, Any], told: str) -> None:
    refused = await owner.put("/api/beta/experience", {"experience": EXPERIENCE | change})

    assert (refused.status, refused.code) == (400, "onboarding.bad_experience"), refused.raw
    assert told in refused["detail"]
    assert all(one["path"].startswith("experience") for one in refused["errors"])
    assert (await owner.get("/api/beta/experience"))["state"] == "seeded"


@pytest.mark.parametrize(("change", "told"), [one for one in WRONG if one[1] != "upload these files first"])
def test_a_plugin_and_a_file_are_judged_alike(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        experience.read(EXPERIENCE | change)

    assert told in str(refused.value)


async def test_only_the_first_team_knows_of_the_funnel(house: Application, company: Company, owner: Client) -> None:
    await publish(owner)
    member = await company.join("member")
    neighbour = await company.join("owner", team=await company.add_team())
    stranger = await (await found_company(house)).join("owner", operator=True)
    narrow = await company.join("owner", scope=["notes:read"])
    rows: list[tuple[str, str, Any]] = [
        ("GET", "/api/beta/experience", None), ("GET", "/api/beta/assets", None), ("GET", "/api/beta/prospects", None),
        ("PUT", "/api/beta/experience", {"experience": EXPERIENCE}), ("POST", "/api/beta/experience/publish", None),
        ("POST", "/api/beta/assets", {"kind": "logo", "data": "AAAA", "filename": "x"}), ("DELETE", f"/api/beta/asset/{NIL}", None),
        ("POST", f"/api/beta/prospects/{NIL}/decide", {"decision": "decline"}),
    ]  # fmt: skip

    found = {
        name: {(await person.send(method, path, body)).status for method, path, body in rows}
        for name, person in {"member": member, "neighbour": neighbour, "stranger": stranger, "narrow": narrow}.items()
    }

    assert found == {"member": {403}, "neighbour": {404}, "stranger": {404}, "narrow": {403}}


async def test_a_file_of_the_settings_is_shown_until_something_is_published(
    house: Application, owner: Client, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = experience.read(json.loads(json.dumps(EXPERIENCE)))
    monkeypatch.setattr(house.services.started["onboarding"], "seed", seed)

    seeded, draft = await visitor.get("/api/beta/config"), await owner.get("/api/beta/experience")
    await publish(owner, copy={"title": "Ours"}, locales={})

    assert (seeded["version"], seeded["copy"]["title"], draft["state"]) == (0, "Be among the first", "seeded")
    assert draft["experience"]["fields"][0]["name"] == "email"
    assert (await visitor.get("/api/beta/config"))["copy"]["title"] == "Ours"
