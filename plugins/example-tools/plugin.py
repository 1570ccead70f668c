"""Counts words: one tool, one route under two methods, one job kind."""

from typing import Annotated, Any

import msgspec

from atrium.sdk import (
    Assignment,
    Context,
    JobKind,
    Operation,
    Parameter,
    Plugin,
    PluginRequest,
    PluginRoute,
    Principal,
    Tool,
    Transaction,
)

LONGEST = 1_000_000


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """What is counted."""

    text: Annotated[str, msgspec.Meta(description="The text to count.", max_length=LONGEST)]
    __example__ = {"text": "to be or not to be"}


class Counts(msgspec.Struct):
    """What was counted."""

    words: int
    characters: int
    lines: int


def count(text: str) -> Counts:
    """Words, characters and lines of a text."""
    return Counts(len(text.split()), len(text), len(text.splitlines()))


async def word_count(db: Transaction, principal: Principal, arguments: dict[str, Any]) -> Counts:
    """The tool."""
    return count(arguments["text"])


async def count_from_query(ctx: Context, request: PluginRequest) -> Counts:
    """The route, with the text in the query."""
    return count(request.query.text)


async def count_from_body(ctx: Context, request: PluginRequest) -> Counts:
    """The route, with the text in the body."""
    return count(request.body.text)


async def count_later(op: Operation, job: Assignment) -> Counts:
    """The job: the same count, in the background."""
    return count(job.arguments.text)


PLUGIN = Plugin(
    tools=(
        Tool(
            name="word_count",
            description="Count the words, characters and lines of a text.",
            permission="chat:use",
            effect="read",
            untrusted=False,
            run=word_count,
            parameters=(Parameter(name="text", type="string", description="The text to count."),),
        ),
    ),
    job_kinds=(
        JobKind(
            name="x.example-tools.word-count",
            description="Count the words, characters and lines of a text.",
            arguments=Text,
            run=count_later,
        ),
    ),
    routes=(
        PluginRoute(
            "GET",
            "/word-count",
            "chat:use",
            count_from_query,
            "Count the words of `text` in the query.",
            query=Text,
            reply=Counts,
        ),
        PluginRoute(
            "POST",
            "/word-count",
            "chat:use",
            count_from_body,
            "Count the words of `text` in the body.",
            body=Text,
            reply=Counts,
        ),
    ),
)
