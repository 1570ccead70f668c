"""Judges that share no code with the shield: FormatJS' parser for ICU messages, markdown-it for Markdown, Python's own for HTML."""

import json
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

_ORACLE = Path(__file__).parent / "oracle.mjs"
_PARSER = Path(__file__).parents[3] / "console/node_modules/@formatjs/icu-messageformat-parser"
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_SPANS = {"code_inline", "html_inline", "link_open", "link_close", "image", "hardbreak", "em_open", "strong_open"}


def broken_messages(pairs: list[tuple[str, str]]) -> list[Any]:
    """Which results are no messages any more, or promise something else than their sources."""
    if not shutil.which("node") or not _PARSER.is_dir():
        pytest.skip("FormatJS' parser comes with the console: npm ci --prefix console")
    run = subprocess.run(["node", _ORACLE], input=json.dumps(pairs).encode(), capture_output=True, check=True)
    said = json.loads(run.stdout)
    assert said["judged"] == len(pairs)
    return list(said["broken"])


def skeleton(text: str) -> tuple[list[Any], list[Any]]:
    """The blocks of a Markdown document in their order, and per block of prose what is in it besides words."""
    blocks, spans = list[Any](), list[Any]()
    for token in _MARKDOWN.parse(text):
        blocks.append((token.type, token.tag, token.markup if token.type != "heading_open" else "", token.info))
        if token.type in ("fence", "code_block", "html_block"):
            blocks.append(token.content)
        if token.type == "inline":
            found = Counter(
                (
                    one.type,
                    one.content if one.type != "image" else "",
                    str(one.attrs.get("href") or one.attrs.get("src") or ""),
                )
                for one in token.children or ()
                if one.type in _SPANS
            )
            spans.append(found)
    return blocks, spans


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []
        self.raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))
        self.raw = tag if tag in ("script", "style", "code", "pre") else self.raw

    def handle_endtag(self, tag: str) -> None:
        self.found.append(("/" + tag,))
        self.raw = "" if tag == self.raw else self.raw

    def handle_comment(self, data: str) -> None:
        self.found.append(("!", data))

    def handle_data(self, data: str) -> None:
        if self.raw:
            self.found.append(("=", data))


def tags_of(text: str) -> list[Any]:
    """Every tag of an HTML document with its attributes, and what is in code and scripts."""
    reading = _Tags()
    reading.feed(text)
    reading.close()
    return reading.found
