"""doc_render: what a template makes, what it may not, and that no template holds up the server."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atrium.boot.assemble import Application
from atrium.kit.errors import AppError
from atrium.product.pipeline import renderer, template_process
from atrium.product.pipeline.model import RenderersBusy
from tests.domains.pipeline.conftest import Kept, call, put, read_body
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company

FULL = bool(os.environ.get("ATRIUM_FULL"))
FORM = """\
# Invoice {{ number }}
{% for line in lines %}
- {{ line.name | upcase }}: {{ line.price | times: 2 }}
{%- endfor %}
{% if total > 10 %}Large{% else %}Small{% endif %}, {{ data.number }}{{ nothing.at.all }}
"""
DATA = {"number": "A-17", "total": 12.5, "lines": [{"name": "tea", "price": 2}, {"name": "þé", "price": 3}]}
BOMBS = {
    "loops": "{% for a in (1..100000) %}{% for b in (1..100000) %}{{ b }}{% endfor %}{% endfor %}",
    "one endless loop": "{% for a in (1..999999999999) %}{% endfor %}",
    "output": "{% for a in (1..90000) %}" + "x" * 100 + "{% endfor %}",
    "doubling": "{% assign x = 'aaaaaaaaaaaaaaaa' %}" + "{% assign x = x | append: x %}" * 40 + "{{ x }}",
    "captured": "{% capture x %}aaaaaaaaaaaaaaaa{% endcapture %}"
    + "{% capture x %}{{ x }}{{ x }}{{ x }}{{ x }}{% endcapture %}" * 20,
    "replacing": "{% assign x = 'aaaaaaaaaaaaaaaa' %}" + "{% assign x = x | replace: 'a', 'aaaaaaaaaaaaaaaa' %}" * 9,
    "splitting": "{% assign x = 'a,' %}"
    + "{% assign x = x | append: x %}" * 18
    + "{% assign y = x | split: ',' | join: x %}",
    "nesting": "{% if true %}" * 500 + "x" + "{% endif %}" * 500,
    "numbers": "{% assign x = 9 %}" + "{% assign x = x | times: x %}" * 40 + "{{ x }}",
    "power of text": "{{ '9' | append: '9' | times: 99999999999999999999 }}" + "{{ 10 | divided_by: 0 }}",
    "table": "{% tablerow x in (1..500000) cols: 1 %}{{ x }}{% endtablerow %}",
    "cycle": "{% for a in (1..99999) %}{% cycle 'a', 'b' %}{% for b in (1..9) %}{{ b }}{% endfor %}{% endfor %}",
    "includes itself": "{% include 'x' %}",
    "renders itself": "{% render 'x' %}",
    "reads a file": "{% include '/etc/passwd' %}",
    "unclosed": "{% for x in y %}",
    "a wall of brackets": "{{" * 100_000,
    "long expression": "{% if " + " and ".join(["a"] * 30_000) + " %}x{% endif %}",
    "date": "{{ '" + "9" * 100_000 + "' | date: '%Y' }}",
    "slices": "{{ 'abc' | slice: -99999999999999999999, 99999999999999999999 }}{% cycle %}",
    "huge": "x" * 300_000,
}
# What looks like a bomb and is none: it ends in a form, as quickly.
HARMLESS = {
    "long brackets": "{{ x" + "[0]" * 60_000 + " }}",
    "wide date": "{{ 'now' | date: '" + "%999999999d" * 100 + "' }}",
}


async def render(house: Application, person: Client, id: str, template: str, data: Any = None) -> Any:
    return await call(person, house, "doc_render", object=id, template=template, data=DATA if data is None else data)


async def refusal(house: Application, person: Client, id: str, template: str, data: Any = None) -> AppError:
    with pytest.raises(AppError) as refused:
        await render(house, person, id, template, data)
    return refused.value


@asynccontextmanager
async def watched_loop() -> AsyncIterator[list[tuple[float, float]]]:
    """How long the event loop was away each time: by the clock, and of that how long it was computing itself."""
    away = [(0.0, 0.0)]

    async def tick() -> None:
        while True:
            before, computed = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.002)
            away.append((time.perf_counter() - before - 0.002, time.thread_time() - computed))

    ticking = asyncio.ensure_future(tick())
    try:
        yield away
    finally:
        ticking.cancel()


async def test_a_form_is_a_document_beside_the_source(house: Application, alice: Client) -> None:
    id = await put(alice, "in/bill.txt", b"Invoice")

    made = await render(house, alice, id, FORM)

    assert (made["kind"], made["title"], made["content_type"]) == ("document", "bill.txt.form.md", "text/markdown")
    assert await read_body(alice, made["object_id"]) == "# Invoice A-17\n\n- TEA: 4\n- ÞÉ: 6\nLarge, A-17\n"
    assert (await alice.get(f"/api/documents/{made['object_id']}"))["title"] == "bill.txt.form.md"
    (thread,) = (await alice.get(f"/api/repo-obj/{made['object_id']}/derivations"))["items"]
    assert (thread["source_id"], thread["source_version_id"]) == (id, made["source_version_id"])


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_ends_in_a_refusal_and_leaves_nothing(house: Application, alice: Client, name: str) -> None:
    await bombed(house, alice, name)


@pytest.mark.proof
@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_ends_in_time_and_the_loop_goes_on(house: Application, alice: Client, name: str) -> None:
    await house.services.sandbox.reason()
    began = time.perf_counter()

    async with watched_loop() as away:
        await bombed(house, alice, name)

    assert time.perf_counter() - began < template_process.SECONDS + 10
    # By the clock other programs of the machine count as well.
    assert max(computing for _, computing in away) < 0.05
    assert max(waiting for waiting, _ in away) < 2


async def bombed(house: Application, alice: Client, name: str) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    refused = await refusal(house, alice, id, BOMBS[name])

    assert refused.code in ("doc.bad_template", "doc.template_too_heavy")
    assert len(refused.message) < 400
    assert (await alice.get("/api/repo", prefix="bill.txt."))["items"] == []


@pytest.mark.parametrize("name", HARMLESS)
async def test_a_harmless_oddity_is_a_form(house: Application, alice: Client, name: str) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    # Within rendering.SECONDS, or it would be refused.
    made = await render(house, alice, id, HARMLESS[name])

    assert len(await read_body(alice, made["object_id"])) <= template_process.LARGEST_FORM


async def test_nothing_of_python_can_be_named(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.txt", b"Invoice")
    places = [
        "number.__class__", "lines.__class__.__mro__", "number.format", "lines.append", "data.items", "data.keys", "number['__class__']",
        "data.__init__.__globals__", "self", "env", "context", "forloop.__class__", "data['__class__']", "number.upper",
    ]  # fmt: skip

    made = await render(house, alice, id, "\n".join(f"{place} [{{{{ {place} }}}}]" for place in places))

    assert (await read_body(alice, made["object_id"])).splitlines() == [f"{place} []" for place in places]


async def test_names_in_the_data_stay_data(house: Application, alice: Client) -> None:
    odd = {"self": 1, "template": 2, "__class__": 3, "data": {"x": 4}, "a b": 5, "": 6, "{{ x }}": "{{ number }}"}
    id = await put(alice, "bill.txt", b"Invoice")

    template = "{{ self }}{{ template }}{{ __class__ }}{{ data.x }}{{ ['a b'] }}{{ ['{{ x }}'] }}"
    made = await render(house, alice, id, template.replace("{{ ['{{ x }}'] }}", ""), odd)

    assert await read_body(alice, made["object_id"]) == "12345"


async def test_a_value_that_looks_like_a_template_is_not_one(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    made = await render(house, alice, id, "{{ x }}", {"x": "{{ y }}{% for a in (1..9) %}", "y": "secret"})

    assert await read_body(alice, made["object_id"]) == "{{ y }}{% for a in (1..9) %}"


@pytest.mark.parametrize(
    ("template", "said"),
    [("{{ x | nothing }}", "line 1"), ("a\nb\n{% fi %}", "line 3"), ("{% if %}", "line 1"), ("{{", "line 1")],
)
async def test_a_mistake_is_named_with_its_line(house: Application, alice: Client, template: str, said: str) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    refused = await refusal(house, alice, id, template)

    assert refused.code == "doc.bad_template"
    assert said in refused.message


async def test_data_is_bounded(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    refused = await refusal(house, alice, id, "{{ x }}", {"x": "x" * (1 << 20)})

    assert refused.code == "doc.template_too_heavy"


async def test_an_empty_form_is_a_form(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.txt", b"Invoice")

    made = await render(house, alice, id, "{{ nothing }}")

    assert await read_body(alice, made["object_id"]) == ""


async def test_one_companys_bombs_leave_places_to_others(
    house: Application, company: Company, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await (await found_company(house)).join()
    mine, theirs = await put(alice, "bill.txt", b"Invoice"), await put(other, "bill.txt", b"Invoice")
    heavy = BOMBS["loops"].replace("{{ b }}", "{% assign x = 'a' | split: '' | sort | join: 'b' %}")
    bombs = [asyncio.ensure_future(refusal(house, alice, mine, heavy)) for _ in range(6)]
    await asyncio.sleep(0.2)

    made = await asyncio.wait_for(render(house, other, theirs, "{{ number }}"), PATIENCE)

    assert await read_body(other, made["object_id"]) == "A-17"
    assert {one.code for one in await asyncio.gather(*bombs)} == {"doc.template_too_heavy"}


async def test_when_every_renderer_is_in_use_a_caller_is_told(
    house: Application, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await put(alice, "bill.txt", b"Invoice")
    monkeypatch.setattr(template_process, "_QUEUE_SECONDS", 0.05)
    bombs = [
        asyncio.ensure_future(refusal(house, alice, id, "{% for a in (1..9999999) %}{% endfor %}" * 3))
        for _ in range(8)
    ]

    found = {type(one) for one in await asyncio.gather(*bombs)}

    assert RenderersBusy in found


async def test_the_result_is_kept_with_the_form(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.txt", b"Invoice")
    kept = Kept("form")

    made = await kept.call(house, alice, "doc_render", object=id, template="x", data={}, run="no id", step="y")

    assert kept.results == [made]
    (thread,) = (await alice.get(f"/api/repo-obj/{made['object_id']}/derivations"))["items"]
    assert (thread["run_id"], thread["step"]) == (str(kept.run_id), "form")


NAMES = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
PIECES = st.sampled_from(
    [
        "{{", "}}", "{%", "%}", "{%-", "-%}", " x ", "|", " append: ", " for a in data ", " endfor ", " if ", " endif ", " assign x = ",
        "'", '"', "[", "]", "(1..5)", ".", "..", "a", "\n", " case x ", " when ", " endcase ", " capture y ", " endcapture ", " raw ",
        " endraw ", " comment ", " liquid ", "size", "first", " contains ", "é", "\x00",
    ]
)  # fmt: skip


@settings(max_examples=3_000 if FULL else 300, deadline=None, suppress_health_check=list(HealthCheck))
@given(template=st.lists(PIECES, max_size=25).map("".join), data=st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_template_ends_in_a_text_or_an_error_of_liquids(template: str, data: dict[str, Any]) -> None:
    from liquid.exceptions import LiquidError

    try:
        made = renderer.render(template, json.loads(json.dumps(data)), 10_000)
    except LiquidError as error:
        made = renderer._said(error)
    assert len(made.encode()) <= 10_000


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=200).filter(lambda text: "{{" not in text and "{%" not in text and "{#" not in text))
def test_a_template_without_marks_is_its_own_form(text: str) -> None:
    assert renderer.render(text, {}, 10_000) == with_plain_line_ends(text)


def with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@settings(max_examples=300, deadline=None)
@given(value=st.text(max_size=200))
def test_a_value_comes_out_as_it_went_in(value: str) -> None:
    assert renderer.render("{{ x }}", {"x": value}, 10_000) == with_plain_line_ends(value)
