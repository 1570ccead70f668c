"""SQL with named values: names become numbers in order, casts and everything else stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.postgres.database import compile_statement

names = st.from_regex(r"[a-z_][a-z0-9_]{0,10}", fullmatch=True)


@pytest.mark.parametrize(
    ("sql", "text", "order"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("SELECT :id", "SELECT $1", ("id",)),
        ("a = :a AND b = :b", "a = $1 AND b = $2", ("a", "b")),
        ("a = :a AND b = :b AND c = :a", "a = $1 AND b = $2 AND c = $1", ("a", "b")),
        (":a::uuid IS NULL OR id < :a", "$1::uuid IS NULL OR id < $1", ("a",)),
        ("x::text, y::int[], :ids::uuid[]", "x::text, y::int[], $1::uuid[]", ("ids",)),
        ("make_interval(secs => :n::int)", "make_interval(secs => $1::int)", ("n",)),
        ("(:after_at, :after_id)", "($1, $2)", ("after_at", "after_id")),
        ("p = 'notes:manage' AND a = :a", "p = 'notes:manage' AND a = $1", ("a",)),
        ("to_char(at, 'HH24:MI')", "to_char(at, 'HH24:MI')", ()),
        ("a = :a1 AND b = :a2", "a = $1 AND b = $2", ("a1", "a2")),
    ],
)
def test_names_become_numbers_and_casts_stay(sql: str, text: str, order: tuple[str, ...]) -> None:
    assert compile_statement(sql) == (text, order)


@given(st.lists(names, min_size=1, max_size=15))
def test_each_name_keeps_one_number_wherever_it_stands(wanted: list[str]) -> None:
    text, order = compile_statement(", ".join(f":{name}::text" for name in wanted))

    assert len(set(order)) == len(order)
    assert [order[int(part.removeprefix("$").removesuffix("::text")) - 1] for part in text.split(", ")] == wanted
