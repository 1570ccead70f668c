"""Branding over HTTP: whose look is shown to whom, what a theme or a logo is refused for, and that nothing unclean is kept."""

import asyncio
import base64
import random
import resource
import struct
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import asyncpg
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

TEAL = {"accent": "#0f766e", "accent-text": "#0b5f58", "focus": "#0f766e"}
LOGO_BYTES = 1_048_576


@pytest.fixture
async def chief(company: Company) -> Client:
    """An admin of the company."""
    return await company.join("member", org_role="org_admin")


@pytest.fixture
async def keeper(operator: Client) -> AsyncIterator[Client]:
    """An operator; whatever they make the instance look like is undone."""
    yield operator
    assert (await operator.put("/api/branding", {"logo": None})).status == 200


async def give_hostname(company: Company, *, proven: bool = True) -> str:
    hostname = f"{company.org.slug}.example"
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE orgs SET domain = $2, domain_verified_at = CASE WHEN $3 THEN now() END WHERE id = $1",
        company.org.id,
        hostname,
        proven,
    )
    return hostname


async def brand(client: Client, **fields: Any) -> dict[str, Any]:
    answer = await client.put("/api/org/branding", fields)
    assert answer.status == 200, answer.raw
    return dict(answer.body)


def picture(mode: str = "RGB", size: tuple[int, int] = (64, 48), colour: Any = "#336699") -> Image.Image:
    return Image.new(mode, size, colour)


def noise(side: int) -> Image.Image:
    return Image.frombytes("RGB", (side, side), random.Random(side).randbytes(side * side * 3))


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def as_text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def kept_bytes(answer: Answer) -> bytes:
    prefix, _, text = str(answer["logo"]).partition(";base64,")
    assert prefix in ("data:image/png", "data:image/jpeg", "data:image/webp")
    return base64.b64decode(text, validate=True)


def kept_picture(answer: Answer) -> Image.Image:
    return Image.open(BytesIO(kept_bytes(answer)))


# What is shown, and to whom


async def test_an_instance_that_was_never_branded_has_a_title_and_no_overrides(nobody: Client) -> None:
    answer = await nobody.get("/api/branding")

    assert answer.status == 200
    assert answer.body | {"revision": ""} == {
        "title": "Atrium",
        "tagline": "",
        "logo": None,
        "theme": {},
        "own": False,
        "revision": "",
    }
    assert answer.headers["etag"] == f'"{answer["revision"]}"'


async def test_the_instances_look_is_shown_to_everybody_at_once(keeper: Client, nobody: Client, alice: Client) -> None:
    saved = await keeper.put("/api/branding", {"title": "Harbour", "tagline": "All in one place", "theme": TEAL})

    assert saved.status == 200
    assert (saved["own_title"], saved["own_theme"]) == ("Harbour", TEAL)
    for viewer in (nobody, alice):
        shown = (await viewer.get("/api/branding")).body
        assert (shown["title"], shown["tagline"], shown["theme"]) == ("Harbour", "All in one place", TEAL)
        assert shown["own"] is False


async def test_putting_replaces_title_tagline_and_theme_but_not_the_logo(keeper: Client, nobody: Client) -> None:
    await keeper.put("/api/branding", {"title": "Harbour", "tagline": "x", "theme": TEAL})
    await keeper.post("/api/branding/logo", {"data": as_text(encoded(picture()))})

    await keeper.put("/api/branding", {"tagline": "y"})

    shown = (await nobody.get("/api/branding")).body
    assert (shown["title"], shown["tagline"], shown["theme"]) == ("Atrium", "y", {})
    assert shown["logo"].startswith("data:image/png;base64,")
    assert (await keeper.put("/api/branding", {"logo": None}))["logo"] is None


async def test_a_company_without_branding_reads_the_instances(keeper: Client, chief: Client) -> None:
    await keeper.put("/api/branding", {"title": "Harbour", "theme": TEAL})

    answer = (await chief.get("/api/org/branding")).body

    assert (answer["title"], answer["theme"], answer["own"]) == ("Harbour", TEAL, False)
    assert (answer["own_title"], answer["own_tagline"], answer["own_logo"], answer["own_theme"]) == (
        None,
        None,
        False,
        {},
    )


async def test_a_companys_look_lies_on_the_instances_field_by_field_and_token_by_token(
    keeper: Client, chief: Client
) -> None:
    await keeper.put("/api/branding", {"title": "Harbour", "tagline": "Ships", "theme": TEAL})
    await keeper.post("/api/branding/logo", {"data": as_text(encoded(picture()))})

    mine = await brand(chief, title="Acme", theme={"accent": "#8A1C5B", "radius": "2px"})

    assert (mine["title"], mine["tagline"], mine["own"]) == ("Acme", "Ships", True)
    assert mine["theme"] == {**TEAL, "accent": "#8a1c5b", "radius": "2px"}
    assert mine["own_theme"] == {"accent": "#8a1c5b", "radius": "2px"}
    assert (mine["logo"] is not None, mine["own_logo"]) == (True, False)
    assert mine["inherited"] == {"title": "Harbour", "tagline": "Ships", "theme": TEAL}


async def test_an_empty_tagline_hides_the_instances(keeper: Client, chief: Client) -> None:
    await keeper.put("/api/branding", {"tagline": "Ships"})

    mine = await brand(chief, tagline="")

    assert (mine["tagline"], mine["own"]) == ("", True)


async def test_its_people_see_the_companys_look_and_others_do_not(
    chief: Client, alice: Client, stranger: Client, nobody: Client
) -> None:
    await brand(chief, title="Acme", theme=TEAL)

    assert (await alice.get("/api/branding"))["title"] == "Acme"
    for other in (stranger, nobody):
        shown = (await other.get("/api/branding")).body
        assert (shown["title"], shown["theme"], shown["own"]) == ("Atrium", {}, False)


@pytest.mark.parametrize("spelling", ["{}", "{}:8443", "{}.", "{}.:80", "{}:"])
async def test_on_its_hostname_a_companys_look_is_shown_before_signing_in(
    company: Company, chief: Client, nobody: Client, spelling: str
) -> None:
    hostname = await give_hostname(company)
    await brand(chief, title="Acme", theme=TEAL)

    answer = await nobody.get("/api/branding", headers={"host": spelling.format(hostname.upper())})

    assert (answer["title"], answer["theme"], answer["own"]) == ("Acme", TEAL, True)


async def test_the_hostname_wins_over_the_credential(company: Company, chief: Client, stranger: Client) -> None:
    hostname = await give_hostname(company)
    await brand(chief, title="Acme")
    await brand(stranger, title="Stranger Ltd")

    answer = await stranger.get("/api/branding", headers={"host": hostname})

    assert answer["title"] == "Acme"
    assert (await stranger.get("/api/branding"))["title"] == "Stranger Ltd"


async def test_a_hostname_without_a_look_of_its_own_shows_the_instances_and_nobody_elses(
    company: Company, stranger: Client
) -> None:
    hostname = await give_hostname(company)
    await brand(stranger, title="Stranger Ltd")

    answer = await stranger.get("/api/branding", headers={"host": hostname})

    assert (answer["title"], answer["own"]) == ("Atrium", False)


async def test_a_hostname_that_is_not_proven_shows_nothing_of_the_company(
    company: Company, chief: Client, nobody: Client
) -> None:
    hostname = await give_hostname(company, proven=False)
    await brand(chief, title="Acme")

    assert (await nobody.get("/api/branding", headers={"host": hostname}))["title"] == "Atrium"


@pytest.mark.parametrize(
    "host", ["", ":", "[::1]:8000", "a b", "' OR 1=1 --", "x" * 300, "example.com/../", "bücher.example", "a\0b"]
)
async def test_a_host_header_that_names_nothing_shows_the_instances_look(nobody: Client, host: str) -> None:
    answer = await nobody.get("/api/branding", headers={"host": host})

    assert (answer.status, answer["title"]) == (200, "Atrium")


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer nonsense", "Basic YTpi", "Bearer " + "ats_" + "0" * 49, "Bearer \xff"]
)
async def test_a_credential_that_does_not_count_is_ignored(nobody: Client, header: str) -> None:
    answer = await nobody.get("/api/branding", headers={"authorization": header})

    assert (answer.status, answer["title"]) == (200, "Atrium")


async def test_an_expired_session_sees_what_a_visitor_sees(house: Application, chief: Client) -> None:
    await brand(chief, title="Acme")
    await run_as_owner(
        house.services.settings.database_url,
        "UPDATE tokens SET expires_at = now() - interval '1 second' WHERE user_id = $1",
        chief.user_id,
    )

    assert (await chief.get("/api/branding"))["title"] == "Atrium"


async def test_dropping_the_companys_look_brings_the_instances_back(
    company: Company, chief: Client, nobody: Client
) -> None:
    hostname = await give_hostname(company)
    await brand(chief, title="Acme", theme=TEAL)
    await chief.post("/api/org/branding/logo", {"data": as_text(encoded(picture()))})

    dropped = await chief.delete("/api/org/branding")

    assert dropped.status == 200
    assert (dropped["title"], dropped["logo"], dropped["theme"], dropped["own"]) == ("Atrium", None, {}, False)
    assert (await nobody.get("/api/branding", headers={"host": hostname}))["own"] is False
    assert (await chief.delete("/api/org/branding")).status == 200


async def test_putting_nothing_is_the_same_as_having_set_none(chief: Client) -> None:
    await brand(chief, title="Acme")

    assert (await brand(chief))["own"] is False


async def test_a_page_load_of_a_visitor_is_one_statement(company: Company, chief: Client, database_url: str) -> None:
    hostname = await give_hostname(company)
    await brand(chief, title="Acme")
    asked: list[str] = []
    without_background = tuple(replace(domain, chores=(), start=None, stop=None) for domain in DOMAINS)
    async with open_application(settings_for(database_url, database_pool=1), domains=without_background) as house:
        async with house.services.database.borrow() as connection:
            connection.add_query_logger(lambda record: asked.append(record.query))
        visitor = Client(house.app)
        await visitor.get("/api/branding")  # the driver learns the columns' types once per connection
        asked.clear()

        answer = await visitor.get("/api/branding", headers={"host": hostname})

        assert answer["title"] == "Acme"
        assert len(asked) == 1


# Who may change it


async def test_only_operators_change_the_instances_look(chief: Client, admin: Client, nobody: Client) -> None:
    for who, status in ((nobody, 401), (admin, 403), (chief, 403)):
        assert (await who.put("/api/branding", {"title": "Mine"})).status == status
        assert (await who.post("/api/branding/logo", {"data": "x"})).status == status


async def test_only_admins_of_the_company_change_its_look(company: Company, admin: Client, alice: Client) -> None:
    reader = await company.join("member", org_role="org_reader")

    assert (await reader.get("/api/org/branding")).status == 200
    for who in (reader, alice, admin):
        assert (await who.put("/api/org/branding", {"title": "Mine"})).status == 403
        assert (await who.delete("/api/org/branding")).status == 403
        assert (await who.post("/api/org/branding/logo", {"data": "x"})).status == 403
    for who in (alice, admin):
        assert (await who.get("/api/org/branding")).status == 403


async def test_one_companys_admin_changes_nothing_of_anothers(chief: Client, stranger: Client) -> None:
    await brand(chief, title="Acme", theme=TEAL)

    await brand(stranger, title="Stranger Ltd")
    await stranger.delete("/api/org/branding")

    assert (await chief.get("/api/org/branding"))["title"] == "Acme"


async def test_a_suspended_company_keeps_its_look_and_cannot_change_it(company: Company, chief: Client) -> None:
    await brand(chief, title="Acme")
    await company.suspend()

    assert (await chief.get("/api/org/branding"))["title"] == "Acme"
    assert (await chief.put("/api/org/branding", {"title": "Other"})).status == 402
    assert (await chief.delete("/api/org/branding")).status == 402


async def test_the_serving_role_sees_one_companys_row_and_cannot_write_the_instances(
    house: Application, chief: Client, stranger: Client
) -> None:
    await brand(chief, title="Acme")
    await brand(stranger, title="Stranger Ltd")
    other = await found_company(house)

    async with house.services.database.begin(other.org.id) as db:
        assert await db.value("SELECT count(*) FROM company_branding") == 0
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with house.services.database.begin(other.org.id) as db:
            await db.run("UPDATE instance_branding SET title = 'Mine'")


async def test_every_change_leaves_its_audit_event(company: Company, keeper: Client) -> None:
    logo = {"data": as_text(encoded(picture()))}
    await keeper.put("/api/branding", {"title": "Harbour", "theme": TEAL})
    await keeper.post("/api/branding/logo", logo)
    await keeper.put("/api/org/branding", {"title": "Acme"})
    await keeper.post("/api/org/branding/logo", logo)
    await keeper.delete("/api/org/branding")

    events = [event for event in (await keeper.get("/api/audit"))["items"] if event["kind"].startswith("branding.")]

    assert [(event["kind"], event["subject"]) for event in reversed(events)] == [
        ("branding.changed", "instance"),
        ("branding.logo_changed", "instance"),
        ("branding.company_changed", str(company.org.id)),
        ("branding.company_logo_changed", str(company.org.id)),
        ("branding.company_dropped", str(company.org.id)),
    ]
    assert events[-1]["facts"] == {"title": "Harbour", "tagline": None, "theme": TEAL, "logo": False}


async def test_a_refused_change_leaves_nothing(chief: Client) -> None:
    before = await brand(chief, title="Acme")

    answer = await chief.put("/api/org/branding", {"title": "Other", "theme": {"text": "#ffffff"}})

    assert answer.status == 400
    assert (await chief.get("/api/org/branding")).body == before


async def test_a_stale_change_is_refused_with_the_current_version(chief: Client) -> None:
    old = (await chief.get("/api/org/branding")).headers["etag"]
    await brand(chief, title="Acme")

    refused = await chief.put("/api/org/branding", {"title": "Other"}, headers={"if-match": old})

    assert (refused.status, refused.code) == (412, "branding.stale")
    current = refused.headers["etag"]
    assert (await chief.delete("/api/org/branding", headers={"if-match": old})).status == 412
    assert (await chief.put("/api/org/branding", {"title": "Other"}, headers={"if-match": current})).status == 200


async def test_a_known_version_is_not_sent_again(chief: Client) -> None:
    known = (await chief.get("/api/org/branding")).headers["etag"]

    assert (await chief.get("/api/org/branding", headers={"if-none-match": known})).status == 304


@pytest.mark.parametrize("plane", ["instance", "company"])
async def test_of_many_changes_on_one_version_exactly_one_lands(
    keeper: Client, chief: Client, nobody: Client, plane: str
) -> None:
    client, path = (keeper, "/api/branding") if plane == "instance" else (chief, "/api/org/branding")
    reader = nobody if plane == "instance" else chief
    # Together, so that there is a connection for each of them before the race.
    read = await asyncio.gather(*(reader.get(path) for _ in range(20)))
    etag = read[0].headers["etag"]

    answers = await asyncio.gather(
        *(client.put(path, {"title": f"T{n}"}, headers={"if-match": etag}) for n in range(20))
    )

    assert sorted(answer.status for answer in answers) == [200] + [412] * 19


# What a theme is refused for


@pytest.mark.parametrize("path", ["/api/branding", "/api/org/branding"])
@pytest.mark.parametrize(
    ("theme", "token", "detail"),
    [
        ({"colour": "#000000"}, "colour", "is not a known token"),
        ({"bg": "red"}, "bg", "must be a colour written #rrggbb"),
        ({"bg": "#ffffff\n"}, "bg", "must be a colour written #rrggbb"),
        ({"bg": None}, "bg", "must be a colour written #rrggbb"),
        ({"radius": "17px"}, "radius", "must be 0px to 16px, in whole pixels"),
        ({"font": "comic"}, "font", "must be one of system, inter, serif, rounded"),
        ({"dark-text": "#444444"}, "dark-text", "is below the contrast floor: dark-text on dark-bg is 1.94:1"),
    ],
)
async def test_a_token_that_cannot_be_used_is_named(
    operator: Client, path: str, theme: dict[str, Any], token: str, detail: str
) -> None:
    answer = await operator.put(path, {"theme": theme})

    assert (answer.status, answer.code, answer["token"]) == (400, "branding.bad_token", token)
    assert answer["detail"].startswith(f'theme token "{token}" {detail}')
    assert answer["errors"][0]["path"] == f"theme.{token}"


async def test_below_the_floor_the_refusal_carries_a_colour_that_is_then_taken(chief: Client) -> None:
    refused = await chief.put("/api/org/branding", {"theme": {"accent": "#9aa5ff"}})

    assert refused.status == 400
    assert (refused["pair"], refused["ratio"], refused["needs"]) == (["on-accent", "accent"], 2.28, 4.5)
    taken = await brand(chief, theme={"accent": refused["nearest"]})
    assert taken["theme"] == {"accent": refused["nearest"]}


async def test_a_companys_theme_is_judged_on_top_of_the_instances(keeper: Client, chief: Client) -> None:
    alone = {"on-accent": "#000000"}
    assert (await chief.put("/api/org/branding", {"theme": alone})).status == 400

    await keeper.put("/api/branding", {"theme": {"on-accent": "#000000", "accent": "#6b7be0"}})

    assert (await chief.put("/api/org/branding", {"theme": alone})).status == 200


async def test_a_later_theme_of_the_instance_cannot_make_a_company_illegible(
    company: Company, keeper: Client, chief: Client, nobody: Client
) -> None:
    hostname = await give_hostname(company)
    await keeper.put("/api/branding", {"theme": {"on-accent": "#000000", "accent": "#6b7be0"}})
    await brand(chief, title="Acme", theme={"on-accent": "#101010"})

    await keeper.put("/api/branding", {"theme": {"radius": "0px"}})

    shown = (await nobody.get("/api/branding", headers={"host": hostname}))["theme"]
    assert shown == {"on-accent": "#101010", "accent": "#6b7be0", "radius": "0px"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"title": ""}, "title"),
        ({"title": "  "}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"title": "a\n"}, "title"),
        ({"tagline": "a\n"}, "tagline"),
        ({"title": "x" * 81}, "title"),
        ({"tagline": "a\u0007b"}, "tagline"),
        ({"tagline": "x" * 201}, "tagline"),
        ({"theme": []}, "theme"),
        ({"logo": 7}, "logo"),
        ({"own": True}, ""),
    ],
)
async def test_a_malformed_draft_is_refused_by_field(chief: Client, body: dict[str, Any], path: str) -> None:
    answer = await chief.put("/api/org/branding", body)

    assert answer.status == 400
    assert answer["errors"][0]["path"] == path


async def test_titles_may_be_in_any_language(chief: Client) -> None:
    mine = await brand(chief, title="Þjónusta <b>&amp; 会社 👋", tagline="שלום")

    assert (mine["title"], mine["tagline"]) == ("Þjónusta <b>&amp; 会社 👋", "שלום")


# What a logo is made into, and refused for


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("form", ["{}", "data:image/x;base64,{}", "data:;base64,{}"])
async def test_a_logo_of_each_kind_is_drawn_anew(chief: Client, kind: str, form: str) -> None:
    raw = encoded(picture(size=(800, 400)), kind)

    answer = await chief.post("/api/org/branding/logo", {"data": form.format(as_text(raw))})

    assert answer.status == 200, answer.raw
    assert (answer["own"], answer["own_logo"]) == (True, True)
    kept = kept_picture(answer)
    assert (kept.format, kept.size) == (kind, (512, 256))
    assert kept_bytes(answer) != raw


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
async def test_transparency_survives(chief: Client, kind: str) -> None:
    image = picture("RGBA", (40, 40), (200, 30, 30, 0))
    image.paste((200, 30, 30, 255), (0, 0, 20, 40))

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(encoded(image, kind))})

    kept = kept_picture(answer).convert("RGBA")
    assert kept.getpixel((2, 20))[3] == 255  # type: ignore[index]
    assert kept.getpixel((37, 20))[3] == 0  # type: ignore[index]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
async def test_every_way_to_store_pixels_is_read(chief: Client, mode: str) -> None:
    half = 32_768 if mode == "I;16" else None
    image = picture("I;16", (10, 10), half) if half else picture("L", (10, 10), 128).convert(mode)

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(encoded(image))})

    assert answer.status == 200, answer.raw
    if mode != "1":
        assert abs(kept_picture(answer).convert("L").getpixel((5, 5)) - 128) <= 1  # type: ignore[operator]


async def test_a_printers_jpeg_becomes_one_for_screens(chief: Client) -> None:
    raw = encoded(picture("CMYK", (20, 20), (0, 255, 255, 0)), "JPEG")

    kept = kept_picture(await chief.post("/api/org/branding/logo", {"data": as_text(raw)}))

    red, green, blue = kept.getpixel((10, 10))  # type: ignore[misc]
    assert kept.mode == "RGB"
    assert red > 200 > 60 > max(green, blue)


def with_metadata(kind: str) -> bytes:
    image = picture(size=(60, 20))
    exif = Image.Exif()
    exif[0x010E] = "secret-place"
    exif[0x0112] = 6
    options: dict[str, Any] = {
        "exif": exif,
        "icc_profile": ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    }
    if kind == "PNG":
        notes = PngImagePlugin.PngInfo()
        notes.add_text("Comment", "secret-place")
        notes.add_itxt("XML:com.adobe.xmp", "secret-place")
        options["pnginfo"] = notes
    else:
        options["xmp"] = b"<x>secret-place</x>"
    if kind == "JPEG":
        options["comment"] = b"secret-place"
    return encoded(image, kind, **options) + b"secret-place"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
async def test_metadata_is_dropped_after_turning_the_picture_upright(chief: Client, kind: str) -> None:
    raw = with_metadata(kind)
    assert raw.count(b"secret-place") >= 3

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(raw)})

    kept = kept_picture(answer)
    assert kept.size == (20, 60)
    assert dict(kept.getexif()) == {}
    assert not {"exif", "icc_profile", "xmp", "comment", "Comment", "XML:com.adobe.xmp"} & kept.info.keys()
    assert b"secret-place" not in kept_bytes(answer)


async def test_a_note_about_turning_that_cannot_be_read_turns_nothing(chief: Client) -> None:
    raw = encoded(picture(size=(60, 20)), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\x12\x01\x03" * 9)

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(raw)})

    assert (answer.status, kept_picture(answer).size) == (200, (60, 20))


async def test_only_the_first_picture_of_an_animation_is_kept(chief: Client) -> None:
    frames = [picture("RGB", (30, 30), colour) for colour in ("#ff0000", "#00ff00", "#0000ff")]

    for kind in ("PNG", "WEBP"):
        raw = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)
        kept = kept_picture(await chief.post("/api/org/branding/logo", {"data": as_text(raw)}))

        assert getattr(kept, "n_frames", 1) == 1
        assert kept.convert("RGB").getpixel((15, 15))[0] > 200  # type: ignore[index]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
async def test_what_does_not_compress_is_made_smaller_until_it_is_light(chief: Client, kind: str) -> None:
    raw = encoded(noise(500), kind, **({} if kind == "PNG" else {"quality": 95}))

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(raw)})

    assert answer.status == 200
    assert len(kept_bytes(answer)) <= 131_072


async def test_a_logo_may_have_a_mebibyte_and_not_a_byte_more(chief: Client) -> None:
    raw = encoded(picture())
    full = raw + bytes(LOGO_BYTES - len(raw))

    taken = await chief.post("/api/org/branding/logo", {"data": as_text(full)})
    refused = await chief.post("/api/org/branding/logo", {"data": as_text(full + b"\0")})

    assert taken.status == 200
    assert (refused.status, refused.code, refused["limit"]) == (413, "branding.logo_too_large", LOGO_BYTES)


async def test_only_rows_that_carry_a_file_take_a_body_above_the_limit(chief: Client, alice: Client) -> None:
    beyond = await chief.post("/api/org/branding/logo", {"data": "A" * 1_600_000})
    elsewhere = await alice.post("/api/notes", {"title": "x", "body": "A" * 1_100_000})

    assert (beyond.status, beyond.code) == (413, "request.too_large")
    assert (elsewhere.status, elsewhere.code) == (413, "request.too_large")


SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(as_text(SVG), id="svg"),
        pytest.param("data:image/png;base64," + as_text(SVG), id="svg-called-png"),
        pytest.param(as_text(encoded(picture(), "GIF")), id="gif"),
        pytest.param(as_text(encoded(picture(), "BMP")), id="bmp"),
        pytest.param(as_text(encoded(picture(), "TIFF")), id="tiff"),
        pytest.param(as_text(encoded(picture(), "ICO")), id="ico"),
        pytest.param(as_text(b"%PDF-1.7"), id="pdf"),
        pytest.param(as_text(b"hello"), id="text"),
        pytest.param("", id="nothing"),
        pytest.param("no base64 at all!", id="no-base64"),
        pytest.param("QUJ", id="cut-base64"),
        pytest.param("data:image/png,%89PNG", id="uri-without-base64"),
        pytest.param("https://example.com/logo.png", id="address"),
        pytest.param("ÿØÿ", id="not-ascii"),
    ],
)
async def test_anything_but_the_three_kinds_is_refused_with_what_to_send(chief: Client, data: str) -> None:
    uploaded = await chief.post("/api/org/branding/logo", {"data": data})
    put = await chief.put("/api/org/branding", {"title": "Acme", "logo": data})

    for answer in (uploaded, put):
        assert (answer.status, answer.code) == (400, "branding.bad_logo")
        assert "send a PNG, JPEG or WebP image of at most 1 MiB" in answer["detail"]
    assert (await chief.get("/api/org/branding"))["own"] is False


def png_of(width: int, height: int, rows: bytes) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def test_a_bomb_is_refused_by_what_it_says_of_itself(chief: Client) -> None:
    await send_bomb(chief)


@pytest.mark.proof
async def test_a_bomb_is_refused_before_it_unfolds(chief: Client) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    await send_bomb(chief)

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} KiB"


async def send_bomb(chief: Client) -> None:
    # 50 kB that say they are 400 million pixels, and are.
    bomb = png_of(20_000, 20_000, bytes(20_000 * 2_501))
    assert len(bomb) < 100_000

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(bomb)})

    assert (answer.status, answer.code) == (400, "branding.bad_logo")
    assert "20000 by 20000 pixels" in answer["detail"]


@pytest.mark.parametrize(("width", "height", "status"), [(4096, 4096, 200), (4097, 4096, 400), (16_777_216, 1, 200)])
async def test_the_pixel_limit_is_exact(chief: Client, width: int, height: int, status: int) -> None:
    raw = png_of(width, height, bytes(height * (1 + -(-width // 8))))

    assert (await chief.post("/api/org/branding/logo", {"data": as_text(raw)})).status == status


def webp_of(width: int, height: int) -> bytes:
    canvas = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    body = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + canvas
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(webp_of(1 << 24, 1 << 24), id="webp"),
        pytest.param(png_of(2**31 - 1, 2**31 - 1, b""), id="png"),
        pytest.param(png_of(0, 0, b""), id="nothing"),
        pytest.param(b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03" + bytes(20), id="jpeg"),
    ],
)
async def test_headers_that_promise_too_much_are_refused(chief: Client, raw: bytes) -> None:
    answer = await chief.post("/api/org/branding/logo", {"data": as_text(raw)})

    assert (answer.status, answer.code) == (400, "branding.bad_logo")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
async def test_a_file_that_is_cut_off_is_refused(chief: Client, kind: str) -> None:
    raw = encoded(noise(40), kind)

    for length in (8, 12, 20, 30, 60, len(raw) // 4, len(raw) // 2, len(raw) * 3 // 4):
        answer = await chief.post("/api/org/branding/logo", {"data": as_text(raw[:length])})

        assert (answer.status, answer.code) == (400, "branding.bad_logo"), length


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
async def test_a_damaged_file_is_drawn_or_refused_and_never_a_failure(chief: Client, kind: str) -> None:
    numbers = random.Random(kind)
    whole = with_metadata(kind)

    for _ in range(150):
        raw = bytearray(whole)
        for _ in range(numbers.randrange(1, 6)):
            raw[numbers.randrange(12, len(raw))] = numbers.randrange(256)
        answer = await chief.post("/api/org/branding/logo", {"data": as_text(bytes(raw))})

        assert answer.status in (200, 400), answer.raw
        assert answer.status == 200 or answer.code == "branding.bad_logo"


async def test_a_put_may_carry_the_logo_and_sending_back_what_was_read_changes_nothing(
    keeper: Client, chief: Client
) -> None:
    shown = (await chief.put("/api/org/branding", {"logo": as_text(encoded(noise(60), "JPEG"))})).body
    assert shown["own_logo"] is True

    again = await brand(chief, title="Acme", logo=shown["logo"])
    assert again["logo"] == shown["logo"]

    gone = await brand(chief, title="Acme", logo=None)
    assert (gone["logo"], gone["own_logo"]) == (None, False)

    inherited = (await keeper.post("/api/branding/logo", {"data": as_text(encoded(picture()))}))["logo"]
    kept = await brand(chief, title="Acme", logo=inherited)
    assert (kept["logo"], kept["own_logo"]) == (inherited, False)


async def test_others_are_served_while_a_logo_is_drawn(chief: Client, alice: Client, database_url: str) -> None:
    large = as_text(png_of(4096, 4096, bytes(4096 * 513)))
    async with open_application(settings_for(database_url, database_pool=1)) as house:
        uploader, reader = Client(house.app, chief.token), Client(house.app, alice.token)

        upload = asyncio.create_task(uploader.post("/api/org/branding/logo", {"data": large}))
        seen = [await reader.get("/api/whoami") for _ in range(5)]

        # With one connection and one thread for everybody, either held by the drawing would have made them wait.
        assert not upload.done()
        assert {answer.status for answer in seen} == {200}
        assert (await upload).status == 200


async def test_a_jpeg_of_a_thousand_scans_is_refused(chief: Client) -> None:
    raw = encoded(noise(64), "JPEG", progressive=True)
    last = raw.rindex(b"\xff\xda")
    hostile = raw[:last] + raw[last:-2] * 1000 + raw[-2:]
    assert 1000 <= hostile.count(b"\xff\xda") <= 1100

    answer = await chief.post("/api/org/branding/logo", {"data": as_text(hostile)})

    assert (answer.status, answer.code) == (400, "branding.bad_logo")
    assert (await chief.post("/api/org/branding/logo", {"data": as_text(raw)})).status == 200


async def test_many_uploads_at_once_all_arrive(chief: Client) -> None:
    data = as_text(encoded(noise(200)))

    answers = await asyncio.gather(*(chief.post("/api/org/branding/logo", {"data": data}) for _ in range(10)))

    assert {answer.status for answer in answers} == {200}
    assert len({answer["logo"] for answer in answers}) == 1


async def test_fuzzed_themes_over_http_are_refused_or_clean(chief: Client) -> None:
    numbers = random.Random(7)
    tokens = ["bg", "accent", "dark-text", "radius", "font", "x", "", "__proto__"]
    values: list[Any] = ["#3b49df", "#3b49df\n", "#fff", "8px", "8px;", "serif", "url(x)", None, 1, [], {}, "\u202e"]

    for _ in range(400):
        theme = {numbers.choice(tokens): numbers.choice(values) for _ in range(numbers.randrange(1, 3))}
        answer = await chief.put("/api/org/branding", {"theme": theme})

        assert answer.status in (200, 400), answer.raw
        if answer.status == 400:
            assert answer.code == "branding.bad_token"
        else:
            assert set(answer["theme"].values()) <= {"#3b49df", "8px", "serif"}


async def test_the_interface_lists_every_token_a_theme_may_have(nobody: Client) -> None:
    schemas = (await nobody.get("/openapi.json"))["components"]["schemas"]

    theme = schemas["BrandingDraft"]["properties"]["theme"]["anyOf"][0]

    assert len(theme["properties"]) == 56
    assert theme["additionalProperties"] is False
