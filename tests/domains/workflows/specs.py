"""A valid spec that uses every part of the format, tools to judge it with, and ways to spoil it."""

import copy
from collections.abc import Callable
from typing import Any

Spec = dict[str, Any]


def takes(*required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {name: {} for name in (*required, *optional)},
        "required": list(required),
        "additionalProperties": False,
    }


TOOLS = {
    "doc_text": takes("object"),
    "doc_extract_fields": takes("object", "run", "schema", "step", "text"),
    "doc_render": takes("data", "object", "run", "step", "template"),
    "doc_translate": takes("locale", "object", "run", "step"),
    "find_all": takes(),
    "ask": takes("text", optional=("source",)),
}


def reference(path: str, **more: Any) -> dict[str, Any]:
    return {"$": path, **more}


def upload() -> Spec:
    """Six steps, two of them maps and one a choice, of which four at most run."""
    source, run = reference("input.object_id"), reference("run.id")
    translation = {"locale": reference("item"), "run": run, "step": "translate"}
    return {
        "format": 1,
        "slug": "process-upload",
        "version": 1,
        "title": "Process an upload",
        "inputs": {
            "locales": {"type": "array"},
            "object_id": {"type": "string"},
            "schema": {"type": "object"},
            "template": {"type": "string", "description": "Empty for none."},
            "note": {"type": "string", "optional": True},
        },
        "start": "text",
        "max_steps": 40,
        "steps": [
            {"name": "text", "kind": "tool", "tool": "doc_text", "with": {"object": source}},
            {
                "name": "fields",
                "kind": "tool",
                "tool": "doc_extract_fields",
                "retry": 1,
                "with": {
                    "object": source,
                    "run": run,
                    "schema": reference("input.schema"),
                    "step": "fields",
                    "text": reference("steps.text.output.result.text"),
                },
            },
            {
                "name": "has_form",
                "kind": "choice",
                "when": {"empty": reference("input.template")},
                "then": "translate_source",
                "else": "form",
            },
            {
                "name": "form",
                "kind": "tool",
                "tool": "doc_render",
                "with": {
                    "data": reference("steps.fields.output.result.fields"),
                    "object": source,
                    "run": run,
                    "step": "form",
                    "template": reference("input.template"),
                },
            },
            {
                "name": "translate_form",
                "kind": "map",
                "over": reference("input.locales"),
                "tool": "doc_translate",
                "with": translation | {"object": reference("steps.form.output.result.object_id")},
                "terminal": True,
            },
            {
                "name": "translate_source",
                "kind": "map",
                "over": reference("input.locales"),
                "tool": "doc_translate",
                "with": translation | {"object": source},
                "on_item_error": "collect",
                "timeout": 60,
                "terminal": True,
            },
        ],
    }


Spoil = Callable[[Spec], None]


def setting(value: Any, *path: str | int) -> Spoil:
    """Put a value at a path."""

    def spoil(spec: Any) -> None:
        *outer, last = path
        for part in outer:
            spec = spec[part]
        spec[last] = value

    return spoil


def spoilt(spoil: Spoil) -> Spec:
    spec = copy.deepcopy(upload())
    spoil(spec)
    return spec
