"""Markdown pages put together at random from everything the language has."""

import re
from collections.abc import Callable
from random import Random

_WORDS = tuple(
    re.findall(
        r"\w+", "the board shows open work and every file that a team keeps in its own place until somebody closes it"
    )
)


def generated_page(random: Random) -> str:
    """One page of ten to thirty blocks."""
    blocks = [random.choice(_BLOCKS)(random) for _ in range(random.randint(10, 30))]
    return "\n\n".join([*blocks, "[ref]: https://ref.example/a_b 'A title'", "[^n]: A note with `code`."]) + "\n"


def _words(random: Random, most: int = 12) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(random.randint(2, most)))


def _span(random: Random) -> str:
    words = _words(random, 4)
    return random.choice(
        [
            f"**{words}**", f"*{words}*", f"_{words}_", f"***{words}***", f"`{words} | {{x}}`", f"``a ` {words}``",
            f"[{words}](https://x.example/a(b)?c=d_e \"{words}\")", f"![{words}](a/b.png)", f"[{words}][ref]", "[ref]",
            "<https://auto.example/x_y>", "https://bare.example/a_b.", "ada.l@example.com", f"<b class='x'>{words}</b>", "&amp;",
            r"\*not stressed\*", "3 * 4 * 5", "snake_case_name", f"[**{words}** and `c`](<a b>)", "{{ variable }}", "a < b > c", words,
        ]
    )  # fmt: skip


def _prose(random: Random) -> str:
    return " ".join(random.choice([_words, _span])(random) for _ in range(random.randint(1, 6)))


def _lines(random: Random) -> str:
    return random.choice(["\n", "  \n", "\\\n"]).join(_prose(random) + " end" for _ in range(random.randint(2, 4)))


def _list(random: Random) -> str:
    sign = random.choice(["- ", "* ", "1. ", "- [ ] "])
    inner = [f"{sign}{_prose(random)}\n{' ' * len(sign)}{_words(random)}" for _ in range(random.randint(1, 4))]
    return "\n".join([*inner, f"{' ' * len(sign)}- nested {_prose(random)}"])


def _table(random: Random) -> str:
    rows = [f"| {_words(random, 3)} | {_span(random).replace('|', '')} |" for _ in range(3)]
    return "\n".join(["| Head | More words |", "|:---|---:|", *rows])


_BLOCKS: list[Callable[[Random], str]] = [
    lambda random: f"{'#' * random.randint(1, 6)} {_prose(random)}",
    _prose,
    _prose,
    _lines,
    _list,
    _table,
    lambda random: f"```py\n{_words(random)}\n\n# {_words(random)}\n```",
    lambda random: f"~~~\n{_words(random)}\n~~~",
    lambda random: f"> {_prose(random)}\n> {_words(random)}",
    lambda random: f"> - {_prose(random)}",
    lambda random: f"{_words(random)}\n{random.choice(['===', '---'])}",
    lambda random: random.choice(["---", "* * *", "___"]),
    lambda random: f"<div class='a'>\n{_words(random)}\n</div>",
    lambda random: f"<!-- {_words(random)}\n\n{_words(random)} -->",
    lambda random: f"See {_span(random)}[^n] {_words(random)}.",
]
