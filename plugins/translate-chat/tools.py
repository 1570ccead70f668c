"""Asks a model and translates: two tools that wait for a model, and so hold no transaction while they do, and a workflow of both."""

import json
from pathlib import Path
from typing import Any

from atrium.sdk import LONGEST_TRANSLATION, Message, Operation, Parameter, Plugin, Tool, Turn, run_turn, translate


async def chat_message(op: Operation, arguments: dict[str, Any]) -> str:
    """A model's answer to the text; the turn is metered."""
    reply = await run_turn(op, Turn(messages=[Message("user", arguments["text"])]))
    return reply.text


async def translate_text(op: Operation, arguments: dict[str, Any]) -> str:
    """The text in the language asked for; each turn of it is metered."""
    made = await translate(op, arguments["text"], arguments["target"], source=arguments.get("source"))
    return made.text


PLUGIN = Plugin(
    workflows=(json.loads((Path(__file__).parent / "translate-chat.json").read_text()),),
    tools=(
        Tool(
            name="chat_message",
            description="Ask a model and return its answer.",
            permission="chat:use",
            effect="read",
            untrusted=False,
            feature="chat",
            perform=chat_message,
            seconds=300,
            parameters=(Parameter(name="text", type="string", description="What to say to the model."),),
        ),
        Tool(
            name="translate_text",
            description="Translate a text into another language by the team's glossary.",
            permission="chat:use",
            effect="read",
            untrusted=False,
            feature="translate",
            perform=translate_text,
            seconds=LONGEST_TRANSLATION,
            parameters=(
                Parameter(name="text", type="string", description="The text, at most 200,000 characters."),
                Parameter(name="target", type="string", description="The language, as a BCP 47 tag such as `es`."),
                Parameter(
                    name="source",
                    type="string",
                    description="The language of the text; found out when absent.",
                    optional=True,
                ),
            ),
        ),
    ),
)
