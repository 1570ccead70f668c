"""Counts words: one tool, one route under two methods, one job kind."""

from typing import Any

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
    UserError,
)

LONGEST = 1_000_000


def count(text: object) -> dict[str, int]:
    """Words, characters and lines of a text."""
    if not isinstance(text, str):
        raise UserError("`text` is missing, or is not text")
    if len(text) > LONGEST:
        raise UserError(f"`text` is longer than {LONGEST:,} characters")
    return {"words": len(text.split()), "characters": len(text), "lines": len(text.splitlines())}


async def word_count(db: Transaction, principal: Principal, arguments: dict[str, Any]) -> dict[str, int]:
    """The tool."""
    return count(arguments.get("text"))


async def count_from_query(ctx: Context, request: PluginRequest) -> dict[str, int]:
    """The route, with the text in the query."""
    return count(request.query.get("text"))


async def count_from_body(ctx: Context, request: PluginRequest) -> dict[str, int]:
    """The route, with the text in the body."""
    return count(request.body.get("text") if isinstance(request.body, dict) else None)


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """What the job is given."""

    text: str


async def count_later(op: Operation, job: Assignment) -> dict[str, int]:
    """The job: the same count, in the background."""
    return count(job.arguments.text)


PLUGIN = Plugin(
    tools=(
        Tool(
            name="word_count",
            description="Count the words, characters and lines of a text.",
            permission="chat:use",
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
        PluginRoute("GET", "/word-count", "chat:use", count_from_query, "Count the words of `text` in the query."),
        PluginRoute("POST", "/word-count", "chat:use", count_from_body, "Count the words of `text` in the body."),
    ),
)
