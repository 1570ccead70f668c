"""What is wrong with a text: the cases that the console's desk is held to as well."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.text.icu import MessageRefused, parse, signature
from atrium.product.localization.checks import arguments_of, check, has_same_promises

CASES = json.loads((Path(__file__).parent / "check_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_a_text_has_the_faults_that_the_desk_shows(case: dict[str, Any]) -> None:
    found = check(case["source"], case["text"], case["locale"], case.get("max_length"))

    assert [one.code for one in found] == case["codes"]


def test_what_is_read_without_the_parser_promises_what_the_parser_finds() -> None:
    chance = random.Random(5)
    pieces = [
        "{name}",
        "{ name }",
        "{ñ1}",
        "{}",
        "{a b}",
        "{name",
        "}",
        "words ",
        "\n",
        "''",
        "'{",
        "#",
        "<b>",
        "{n, number}",
        ">",
    ]
    read = 0
    for _ in range(5_000):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 6)))
        try:
            promised = signature(parse(text)).arguments
        except MessageRefused:
            assert arguments_of(text) == {}
            continue
        read += 1
        assert arguments_of(text) == promised
        assert has_same_promises(text, f"palabras {text}")
        assert not has_same_promises(text, f"{text} {{another}}")
    assert read > 500
