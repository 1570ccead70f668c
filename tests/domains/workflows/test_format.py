"""Format 1: every rule with its place and code, and thousands of documents judged twice."""

import copy
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atrium.kit.schemas.validator import Shape
from atrium.seams.workflow_format import SCHEMA
from atrium.seams.workflows import MOST_PROBLEMS, longest_path, problems_in, read_workflow, stored_workflow
from tests.domains.workflows.oracle import is_workflow
from tests.domains.workflows.specs import TOOLS, Spec, Spoil, reference, setting, spoilt, upload
from tests.support.sizes import FULL_ONLY

DOCUMENTS = [500, pytest.param(20_000, marks=[pytest.mark.proof, FULL_ONLY])]
OBJECT = ("steps", 0, "with", "object")


def test_a_valid_spec_has_no_problem() -> None:
    assert problems_in(upload(), TOOLS) == []
    assert longest_path(read_workflow(upload())) == 5


CASES: list[tuple[Spoil, str, str]] = [
    (setting(1, "surprise"), "shape", ""),
    (setting("x", "steps", 0, "next"), "shape", "/steps/0"),
    (setting(1, "steps", 2, "retry"), "shape", "/steps/2"),
    (setting("script", "steps", 0, "kind"), "shape", "/steps/0/kind"),
    (setting(7, "steps", 0), "shape", "/steps/0"),
    (setting(reference("env.HOME"), *OBJECT), "shape", "/steps/0/with/object/$"),
    (setting(reference("input.object_id", x=1), *OBJECT), "shape", "/steps/0/with/object"),
    (setting({"a": {"$where": 1}}, *OBJECT), "shape", "/steps/0/with/object/a"),
    (setting({"$literal": 1, "x": 1}, *OBJECT), "shape", "/steps/0/with/object"),
    (setting({"": 1}, *OBJECT), "shape", "/steps/0/with/object"),
    (setting({"a b": 1}, "steps", 0, "with"), "shape", "/steps/0/with"),
    (setting({"empty": "", "equals": [1, 1]}, "steps", 2, "when"), "shape", "/steps/2/when"),
    (setting({"regex": ["a", "b"]}, "steps", 2, "when"), "shape", "/steps/2/when"),
    (setting({"equals": [1]}, "steps", 2, "when"), "shape", "/steps/2/when/equals"),
    (setting({"exists": 1}, "steps", 2, "when"), "shape", "/steps/2/when/exists"),
    (setting({}, "steps", 2, "when"), "shape", "/steps/2/when"),
    (setting("x", "steps", 4, "over"), "shape", "/steps/4/over"),
    (setting([1] * 1001, "steps", 4, "over"), "shape", "/steps/4/over"),
    (setting(0, "max_steps"), "shape", "/max_steps"),
    (setting(1001, "max_steps"), "shape", "/max_steps"),
    (setting(1.5, "max_steps"), "shape", "/max_steps"),
    (setting(True, "max_steps"), "shape", "/max_steps"),
    (setting(9, "steps", 1, "retry"), "shape", "/steps/1/retry"),
    (setting(3601, "steps", 1, "timeout"), "shape", "/steps/1/timeout"),
    (setting("Bad Slug", "slug"), "shape", "/slug"),
    (setting("a\n", "slug"), "shape", "/slug"),
    (setting("a" * 64, "slug"), "shape", "/slug"),
    (setting("schema", "slug"), "shape", "/slug"),
    (setting("text\n", "start"), "shape", "/start"),
    (setting(2, "format"), "shape", "/format"),
    (setting(True, "format"), "shape", "/format"),
    (setting("", "title"), "shape", "/title"),
    (setting("x" * 121, "title"), "shape", "/title"),
    (setting({"type": "file"}, "inputs", "x"), "shape", "/inputs/x/type"),
    (setting({"type": "string"}, "inputs", "X"), "shape", "/inputs"),
    (setting([], "steps"), "shape", "/steps"),
    (setting([1], "output"), "shape", "/output"),
    (setting("a\0", *OBJECT), "shape", "/steps/0/with/object"),
    (setting("\ud800", *OBJECT), "shape", "/steps/0/with/object"),
    (setting({"\udc00": 1}, *OBJECT), "shape", "/steps/0/with/object"),
    (setting(float("nan"), *OBJECT), "shape", "/steps/0/with/object"),
    (setting(float("-inf"), *OBJECT), "shape", "/steps/0/with/object"),
    (setting({"$literal": [1e19]}, *OBJECT), "shape", "/steps/0/with/object/$literal/0"),
    (setting({"$literal": -(10**400)}, *OBJECT), "shape", "/steps/0/with/object/$literal"),
    (setting((1,), *OBJECT), "shape", "/steps/0/with/object"),
    (setting({1: 2}, *OBJECT), "shape", "/steps/0/with/object"),
    (setting("text", "steps", 1, "name"), "duplicate", "/steps/1/name"),
    (setting("zzz", "start"), "unknown_step", "/start"),
    (setting("form", "start"), "unreachable", "/steps/0"),
    (setting("text", "steps", 2, "then"), "backward", "/steps/2/then"),
    (setting("has_form", "steps", 2, "else"), "backward", "/steps/2/else"),
    (setting("zzz", "steps", 2, "then"), "unknown_step", "/steps/2/then"),
    (setting(True, "steps", 0, "terminal"), "unreachable", "/steps/1"),
    (setting(4, "max_steps"), "too_small", "/max_steps"),
    (setting(reference("input.zzz"), *OBJECT), "unknown_input", "/steps/0/with/object"),
    (setting(reference("input.note"), *OBJECT), "may_be_absent", "/steps/0/with/object"),
    (setting(reference("item"), *OBJECT), "no_item", "/steps/0/with/object"),
    (setting({"equals": [reference("index"), 1]}, "steps", 2, "when"), "no_item", "/steps/2/when/equals/0"),
    (setting(reference("item.a"), "steps", 4, "over"), "no_item", "/steps/4/over"),
    (setting(reference("steps.zzz.output.result"), *OBJECT), "unknown_step", "/steps/0/with/object"),
    (setting(reference("steps.fields.output.result"), *OBJECT), "may_be_absent", "/steps/0/with/object"),
    (setting(reference("steps.text.output.result"), *OBJECT), "may_be_absent", "/steps/0/with/object"),
    (setting(reference("steps.form.output.result.object_id"), "steps", 5, "with", "object"), "may_be_absent", "/steps/5/with/object"),
    (setting({"a": [reference("steps.form.output.result")]}, "output"), "may_be_absent", "/output/a/0"),
    (setting(reference("steps.text.output.results"), "steps", 1, "with", "text"), "wrong_output", "/steps/1/with/text"),
    (setting({"a": reference("steps.translate_form.output.result", default=1)}, "output"), "wrong_output", "/output/a"),
    (setting(reference("input.object_id"), "steps", 4, "over"), "not_a_list", "/steps/4/over"),
    (setting("rm_rf", "steps", 0, "tool"), "unknown_tool", "/steps/0/tool"),
    (setting(1, "steps", 0, "with", "x"), "unknown_parameter", "/steps/0/with/x"),
    (setting({}, "steps", 0, "with"), "missing_parameter", "/steps/0/with"),
]  # fmt: skip


def test_a_step_that_two_ways_lead_to_is_sure_only_of_what_both_passed() -> None:
    spec = spoilt(setting(False, "steps", 4, "terminal"))
    bound = {"both": reference("steps.fields.output.result"), "one": reference("steps.form.output.result")}
    spec["steps"][5]["with"] |= bound

    problems = problems_in(spec)

    assert [(one.code, one.path) for one in problems] == [("may_be_absent", "/steps/5/with/one")]


@pytest.mark.parametrize(("spoil", "code", "path"), CASES)
def test_a_broken_rule_is_found_where_it_is_broken(spoil: Spoil, code: str, path: str) -> None:
    spec = spoilt(spoil)

    assert (code, path) in [(one.code, one.path) for one in problems_in(spec, TOOLS)]
    assert not is_workflow(spec, TOOLS)


@pytest.mark.parametrize("spoil", [spoil for spoil, code, _ in CASES if code == "shape"])
def test_e13_a_part_without_its_shape_is_not_judged_by_its_meaning(spoil: Spoil) -> None:
    assert {one.code for one in problems_in(spoilt(spoil), TOOLS)} == {"shape"}


TWICE_SPOILT: list[tuple[Spoil, Spoil, str, str]] = [
    (setting(1, "surprise"), setting("ask_them", "steps", 5, "tool"), "unknown_tool", "/steps/5/tool"),
    (setting(9, "steps", 1, "retry"), setting("text", "steps", 2, "then"), "backward", "/steps/2/then"),
    (setting("", "title"), setting(True, "steps", 0, "terminal"), "unreachable", "/steps/1"),
    (setting(0, "max_steps"), setting("zzz", "start"), "unknown_step", "/start"),
    (setting(1, "steps", 2, "retry"), setting(reference("steps.form.output.result"), "output", "a"), "may_be_absent", "/output/a"),
    (setting({"type": "file"}, "inputs", "x"), setting(reference("input.zzz"), *OBJECT), "unknown_input", "/steps/0/with/object"),
    (setting("script", "steps", 0, "kind"), setting("form", "steps", 5, "name"), "duplicate", "/steps/5/name"),
    (setting({"exists": 1}, "steps", 2, "when"), setting({}, "steps", 0, "with"), "missing_parameter", "/steps/0/with"),
    (setting([1], "output"), setting(reference("input.object_id"), "steps", 4, "over"), "not_a_list", "/steps/4/over"),
    (setting(7, "steps", 0), setting(reference("index"), "steps", 3, "with", "data"), "no_item", "/steps/3/with/data"),
    (setting(1, "steps", 0, "with", "x"), setting("zzz", "start"), "unknown_parameter", "/steps/0/with/x"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "code", "path"), TWICE_SPOILT)
def test_e13_a_problem_of_shape_does_not_hide_what_is_wrong_elsewhere(
    first: Spoil, second: Spoil, code: str, path: str
) -> None:
    spec = spoilt(setting({}, "output"))
    second(spec)
    first(spec)

    found = [(one.code, one.path) for one in problems_in(spec, TOOLS)]

    assert (code, path) in found
    assert len({code for code, _ in found}) > 1


@pytest.mark.parametrize(
    "spoil",
    [
        setting(reference("input.note", default=None), *OBJECT),
        setting({"empty": reference("input.note")}, "steps", 2, "when"),
        setting({"exists": reference("steps.form.output.result")}, "steps", 2, "when"),
        setting({"a": reference("steps.form.output.result", default=None)}, "output"),
        setting({"$literal": {"$": "env.HOME", "$x": [1]}}, *OBJECT),
        setting(reference("input.object_id", default={"$where": 1}), *OBJECT),
        setting(["es", {"a": reference("user.id")}], "steps", 4, "over"),
        setting(40.0, "max_steps"),
        setting(1.0, "format"),
        setting(2**63 - 1, *OBJECT),
        setting(1e-300, *OBJECT),
        setting("🌍 \n\t\x7f", *OBJECT),
        setting({"a": 0}, *OBJECT),
        setting("schemata", "slug"),
        lambda spec: spec.pop("inputs") and spec.update(steps=[{"name": "text", "kind": "tool", "tool": "find_all"}]),
    ],
)
def test_what_the_format_allows_is_accepted(spoil: Spoil) -> None:
    spec = spoilt(spoil)

    assert problems_in(spec, TOOLS) == []
    assert is_workflow(spec, TOOLS)
    assert stored_workflow(spec).slug == spec["slug"]


@pytest.mark.parametrize("document", [None, 7, "x", [], [upload()], {}, True, object()])
def test_what_is_no_spec_is_a_problem(document: Any) -> None:
    assert [one.code for one in problems_in(document, TOOLS)] == ["shape"]


def test_depth_is_bounded_before_anything_follows_it() -> None:
    deep: Any = 1
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]

    [problem] = problems_in(spoilt(setting({"$literal": deep}, *OBJECT)))

    assert problem.message == "is nested deeper than 64 levels"


def test_no_more_than_twenty_problems_are_told() -> None:
    many = {f"p{number}": reference("item") for number in range(60)}

    assert len(problems_in(spoilt(setting(many, "output")))) == MOST_PROBLEMS
    assert len(problems_in(spoilt(setting([{"$x": 1}] * 300, *OBJECT)))) == MOST_PROBLEMS


def test_sixty_four_choices_are_judged_at_once() -> None:
    """Some 10^13 ways lead through them."""
    choices: list[Any] = [
        {
            "name": f"s{n}",
            "kind": "choice",
            "when": {"equals": [1, 1]},
            "then": f"s{n + 1}",
            "else": f"s{min(n + 2, 63)}",
        }
        for n in range(63)
    ]
    spec = upload() | {
        "start": "s0",
        "max_steps": 64,
        "steps": [*choices, {"name": "s63", "kind": "tool", "tool": "find_all"}],
    }

    assert problems_in(spec, TOOLS) == []
    assert longest_path(read_workflow(spec)) == 64


def test_what_a_refusal_says_stays_short() -> None:
    problems = problems_in(spoilt(setting({"k" * 5000: {"$" + "x" * 5000: "y" * 5000}}, *OBJECT)))

    assert [one.path for one in problems] == ["/steps/0/with/object"]
    assert all(len(one.message) < 400 for one in problems)


NAMES = ["text", "fields", "form", "zz", "a"]
TEXTS = st.sampled_from(
    [*NAMES, "", "A", "a b", "schema", "x\n", "word_count", *TOOLS, "é" * 130, "\0", "string", "array"]
)
PATHS = st.sampled_from(
    ["input.object_id", "input.note", "input.locales", "input.zzz", "item", "item.a.0", "index", "locale", "run.id", "team.id",
     "user.id", "principal.locale", "env.x", "input", "input.", "steps.text.output", "", "item.", "run", "input.note.a b"]
    + [f"steps.{name}.output.{last}" for name in (*NAMES, "has_form", "translate_form") for last in ("result", "results", "result.a")]
)  # fmt: skip
REFERENCES = st.builds(
    lambda path, default, extra: {"$": path} | default | extra,
    PATHS,
    st.sampled_from([{}, {}, {"default": None}, {"default": {"$x": 1}}]),
    st.sampled_from([{}, {}, {}, {"x": 1}]),
)
NUMBERS = st.sampled_from([0, 1, 2, 5, 6, 40, 64, 1000, 1001, 3600, 2**31, 2**63, -1, 1.0, 1.5, 1e19, -0.0])
PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS, REFERENCES)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "object", "text", "$", "$literal", "$x", "", "A_1"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PREDICATES = st.one_of(
    st.builds(lambda name, value: {name: value}, st.sampled_from(["empty", "exists"]), VALUES),
    st.builds(
        lambda name, a, b: {name: [a, b]},
        st.sampled_from(["equals", "in", "contains", "starts_with", "greater_than", "regex"]),
        VALUES,
        VALUES,
    ),
)
STEPS = st.one_of(
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES), "kind": st.just("tool"), "tool": st.sampled_from(["find_all", "ask", "zz"])},
        optional={"with": st.dictionaries(st.sampled_from(["text", "source", "x"]), VALUES, max_size=2), "retry": NUMBERS,
                  "timeout": NUMBERS, "terminal": st.booleans(), "description": TEXTS},
    ),
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES), "kind": st.just("map"), "tool": st.just("ask"), "over": VALUES | REFERENCES,
         "with": st.fixed_dictionaries({"text": VALUES})},
        optional={"on_item_error": st.sampled_from(["fail", "collect", "x"]), "terminal": st.booleans()},
    ),
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES), "kind": st.just("choice"), "when": PREDICATES, "then": st.sampled_from(NAMES),
         "else": st.sampled_from(NAMES)},
        optional={"retry": NUMBERS},
    ),
)  # fmt: skip


@st.composite
def changed(draw: st.DrawFn) -> Spec:
    """A valid spec in which a few places have become something else, or are gone."""
    spec = copy.deepcopy(upload())
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(
            st.sampled_from(sorted(places_of(spec), key=lambda place: (len(str(place[0])), str(place[1]))))
        )
        if isinstance(holder, dict) and draw(st.integers(0, 3)) == 0:
            holder.pop(key, None)
        else:
            # A copy: a strategy gives the same inner values out again, and the next change may fall inside them.
            holder[key] = copy.deepcopy(draw(VALUES | STEPS | PREDICATES))
    return spec


@st.composite
def composed(draw: st.DrawFn) -> Any:
    """Steps put together at random, most of them under different names."""
    steps = draw(st.lists(STEPS, min_size=1, max_size=5))
    if draw(st.booleans()):
        for place, step in enumerate(steps):
            step["name"] = NAMES[place]
            for field in ("then", "else"):
                if field in step and place + 1 < len(steps):
                    step[field] = NAMES[draw(st.integers(place + 1, len(steps) - 1))]
    spec = {"slug": "made", "inputs": upload()["inputs"], "max_steps": draw(st.integers(2, 6)), "steps": steps}
    return spec | {"start": steps[0]["name"]} | draw(st.sampled_from([{}, {}, {"output": {"a": draw(VALUES)}}]))


def places_of(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        found += [(value, key), *places_of(inner)]
    return found


@pytest.mark.parametrize("documents", DOCUMENTS)
def test_two_readings_of_the_format_agree(documents: int) -> None:
    valid = Counter[bool]()

    def agree(document: Any) -> None:
        problems = problems_in(document, TOOLS)
        valid[not problems] += 1
        assert is_workflow(document, TOOLS) == (problems == []), problems
        if not problems:
            stored_workflow(document)

    for_documents(agree, documents)
    print(f"{valid.total()} documents, {valid[True]} of them valid")


@pytest.mark.parametrize("documents", DOCUMENTS)
def test_faults_are_found_where_a_library_finds_some(documents: int) -> None:
    validator, places = jsonschema_rs.Draft202012Validator(SCHEMA), Counter[int]()

    def find_the_same(document: Any) -> None:
        # The library leaves a name without a character out of its paths.
        found = {tuple(part for part in one.path if part != "") for one in Shape(SCHEMA).faults(document)}
        known = {tuple(error.instance_path) for error in validator.iter_errors(document)}
        places[len(known)] += 1
        assert found == known

    for_documents(find_the_same, documents // 2)
    print(f"{places.total()} documents, {places.total() - places[0]} of them with faults")


def for_documents(check: Callable[[Any], None], most: int) -> None:
    """Check so many documents, in every way in which they are made."""
    drawn = given(changed() | composed() | VALUES)(check)
    settings(max_examples=most, deadline=None, suppress_health_check=list(HealthCheck))(drawn)()
