"""Our reader of ICU messages: strict, and what it prints it reads again."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.text.icu import (
    Argument,
    Choice,
    Message,
    MessageRefused,
    PlainText,
    Pound,
    Tag,
    parse,
    print_message,
    signature,
)
from atrium.kit.text.languages import canonical, fallback_chain, is_tag, plural_forms
from tests.domains.translation.oracles import broken_messages

names = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
words = st.text(st.sampled_from("ab é{}<>'#|,=/"), min_size=1, max_size=12)


def bodies(inner: st.SearchStrategy[Message]) -> st.SearchStrategy[Message]:
    """Bodies without two texts in a row, so that they read as they were made."""
    node = st.one_of(
        words.map(PlainText),
        names.map(Argument),
        st.builds(Argument, names, st.sampled_from(["number", "date"]), st.sampled_from(["", "short"])),
        st.builds(lambda name: Tag(name, empty=True), names),
        st.builds(lambda name, one, other: Choice(name, "select", (("x", one), ("other", other))), names, inner, inner),
        st.builds(
            lambda name, one, other, offset: Choice(name, "plural", (("=1", one), ("few", one), ("other", other)), offset),
            names, inner, inner, st.integers(0, 3),
        ),
    )  # fmt: skip
    return st.lists(node, max_size=5).map(_separated)


def _separated(nodes: list[object]) -> Message:
    kept: list[object] = []
    for node in nodes:
        if not (kept and isinstance(node, PlainText) and isinstance(kept[-1], PlainText)):
            kept.append(node)
    return tuple(kept)  # type: ignore[arg-type]


messages = st.recursive(st.just(()), bodies, max_leaves=6)


@given(messages)
def test_what_is_printed_reads_as_the_same_message(message: Message) -> None:
    printed = print_message(message)

    assert parse(printed) == message


@given(st.text(st.sampled_from("ab {}<>'#,=pluraseotc1"), max_size=60))
def test_anything_is_read_or_refused_with_a_place(source: str) -> None:
    found = read(source)

    if isinstance(found, MessageRefused):
        assert 0 <= found.position <= len(source)
    else:
        assert parse(print_message(found)) == found


def read(source: str) -> Message | MessageRefused:
    try:
        return parse(source)
    except MessageRefused as error:
        return error


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("Hello {name", "a , or } is missing (character 12)"),
        ("a } b", "this } closes nothing (character 3)"),
        ("l'{name}", "this apostrophe opens a quotation that has no end; write it twice (character 2)"),
        ("{n, plural, one {x}}", "n has no other (character 11)"),
        ("{n, plural, several {x} other {y}}", "several is no plural form (character 13)"),
        ("{n, plural, one {x} one {y} other {z}}", "one comes twice (character 21)"),
        ("{n, money}", "there is no type money (character 1)"),
        ("<b>x", "<b> has no end (character 1)"),
        ("x</b>", "</b> closes nothing (character 2)"),
        ("<b>{n, plural, other {x</b>}}", "</b> closes nothing (character 24)"),
        ("<a href='x'>y</a>", "a tag is <name>, </name> or <name/>; quote < to write it (character 1)"),
        ("{n, plural, other {" * 11 + "x" + "}}" * 11, "more than 10 messages inside each other (character 210)"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(source: str, problem: str) -> None:
    with pytest.raises(MessageRefused) as refused:
        parse(source)

    assert str(refused.value) == problem


def test_a_message_is_read_into_a_tree() -> None:
    message = parse("It''s '{not}' <b>{name}</b>: {n, plural, offset:1 =0 {none} other {#, {d, date, short}}} #")

    assert message == (
        PlainText("It's {not} "), Tag("b"), Argument("name"), Tag("b", end=True), PlainText(": "),
        Choice("n", "plural", (("=0", (PlainText("none"),)), ("other", (Pound(), PlainText(", "), Argument("d", "date", "short")))), 1),
        PlainText(" #"),
    )  # fmt: skip
    found = signature(message)
    assert found.arguments == {"name": "", "n": "plural", "d": "date"}
    assert (found.tags, found.plurals) == ({"b": 1}, {"n": {"=0", "other"}})


def test_the_consoles_parser_reads_what_we_accept() -> None:
    seeds = [
        "Hello {name}", "{n, plural, one {# file} other {# files}}", "{g, select, male {He} other {They}}", "It''s {x} '{q}'",
        "{n, plural, offset:1 =0 {none} one {a {b}} other {#}}", "{d, date, short} {t, number, percent}", "<b>x</b> '<' 1 < 2",
    ]  # fmt: skip
    alphabet = [*"{}'#,ab n=01<>/", "plural", "select", "other", "one", "number", "{n}", "other {x}", "<b>", "</b>"]
    chance, accepted = random.Random(5), list[str]()
    for _ in range(20_000):
        source = chance.choice(seeds)
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(source) + 1)
            source = chance.choice(
                [source[:at] + chance.choice(alphabet) + source[at:], source[:at] + source[at + 1 :]]
            )
        try:
            accepted.append(print_message(parse(source)))
            accepted.append(source)
        except MessageRefused:
            continue

    broken = broken_messages([(source, source) for source in accepted])

    assert len(accepted) > 5_000
    assert broken == []


def test_plural_forms_and_tags() -> None:
    assert plural_forms("ru") == ("one", "few", "many", "other")
    assert plural_forms("en", "selectordinal") == ("one", "two", "few", "other")
    assert plural_forms("tlh") == ("other",)
    assert plural_forms("zh-Hant-TW") == ("other",)
    assert [canonical(tag) for tag in ("ES", "pt-br", "ZH-hant-tw", "es-419")] == [
        "es",
        "pt-BR",
        "zh-Hant-TW",
        "es-419",
    ]
    assert fallback_chain("es-mx") == ["es-MX", "es"]
    assert [is_tag(tag) for tag in ("es", "zh-Hant", "e", "es_MX", "español", "es\n", None)] == [
        True,
        True,
        *[False] * 5,
    ]
