"""The router answers as if the rows were tried one by one in declared order."""

import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atrium.edge.endpoint import Endpoint
from atrium.edge.router import MethodNotAllowed, NoRoute, Router
from atrium.seams.routes import PUBLIC, Route

Rows = list[tuple[str, str]]
segments = st.sampled_from(["a", "b", "notes", ":id", ":name"])
tails = st.sampled_from(["", "/*rest"])
paths = st.builds(
    lambda parts, tail: "".join(f"/{part}" for part in parts) + tail or "/", st.lists(segments, max_size=4), tails
)
methods = st.sampled_from(["GET", "POST", "DELETE"])
tables = st.lists(st.tuples(methods, paths), max_size=12)
asked = st.one_of(
    st.lists(st.sampled_from(["a", "b", "notes", "x", "", ":id", "*rest"]), max_size=6).map(
        lambda parts: "/" + "/".join(parts)
    ),
    st.text(max_size=20).map(lambda text: "/" + text),
)


def router_of(rows: Rows) -> Router:
    return Router(
        [
            Endpoint(Route(method, path, str(number), PUBLIC), len, False, {}, {}, {}, None, None)
            for number, (method, path) in enumerate(rows)
        ]
    )


def pattern_of(path: str) -> str:
    return "".join(
        "/" + ("(.+)" if part[:1] == "*" else "([^/]+)" if part[:1] == ":" else re.escape(part))
        for part in path[1:].split("/")
    )


def tried_one_by_one(rows: Rows, method: str, path: str) -> object:
    """The plain answer: the first row that fits, else the methods that would, else nothing."""
    fits = [
        (number, row_method, list(found.groups()))
        for number, (row_method, row_path) in enumerate(rows)
        if (found := re.fullmatch(pattern_of(row_path), path, re.DOTALL))
    ]
    wanted = "GET" if method == "HEAD" else method
    for number, row_method, values in fits:
        if row_method == wanted:
            return str(number), values
    return ", ".join(sorted({row_method for _, row_method, _ in fits})) or None


def answer_of(rows: Rows, method: str, path: str) -> object:
    try:
        endpoint, values = router_of(rows).match(method, path)
    except MethodNotAllowed as refusal:
        return refusal.facts["allow"]
    except NoRoute:
        return None
    return endpoint.route.handler, values


@given(tables, st.sampled_from(["GET", "HEAD", "POST", "PUT"]), asked)
@example([("GET", "/:id"), ("GET", "/a")], "GET", "/a")
@example([("GET", "/*rest"), ("GET", "/a/b")], "GET", "/a/b")
@example([("GET", "/a/:id"), ("GET", "/:name/b")], "GET", "/a/b")
@example([("GET", "/:name/b"), ("GET", "/a/:id")], "GET", "/a/b")
@example([("POST", "/:id"), ("GET", "/a")], "POST", "/a")
@example([("POST", "/:id"), ("GET", "/a")], "DELETE", "/a")
@example([("GET", "/a/*rest")], "GET", "/a/")
@example([("GET", "/a/*rest")], "GET", "/a//")
@example([("GET", "/a/:id")], "GET", "/a/")
def test_the_trie_answers_like_trying_row_after_row(rows: Rows, method: str, path: str) -> None:
    assert answer_of(rows, method, path) == tried_one_by_one(rows, method, path)


@given(tables, st.text(max_size=30))
def test_any_path_is_answered_or_refused_in_our_words(rows: Rows, path: str) -> None:
    with suppress(NoRoute, MethodNotAllowed):
        router_of(rows).match("GET", path)


def test_values_come_in_the_order_of_the_path() -> None:
    endpoint, values = router_of([("GET", "/:one/x/:two/*three")]).match("GET", "/1/x/2/3/4//5")

    assert (endpoint.route.handler, values) == ("0", ["1", "2", "3/4//5"])


def test_a_refused_method_lists_the_others_once() -> None:
    router = router_of([("POST", "/a"), ("GET", "/a"), ("GET", "/:x"), ("DELETE", "/:x")])

    with pytest.raises(MethodNotAllowed) as refused:
        router.match("PUT", "/a")

    assert refused.value.facts["allow"] == "DELETE, GET, POST"
