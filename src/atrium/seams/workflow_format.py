"""Format 1 of workflows, as it is served and applied: the JSON schema, and in words what a schema cannot say."""

from typing import Any, Final

FORMAT: Final = 1
MOST_STEPS, MOST_RUN, MOST_INPUTS, MOST_FIXED = 64, 1000, 32, 1000
MOST_RETRIES, LONGEST_ATTEMPT = 5, 3600
# Seconds before each further attempt.
BACKOFF = [2**attempt for attempt in range(MOST_RETRIES)]
SLUG = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
NAME = "^[a-z][a-z0-9_]{0,39}$"
TOOL = "^[a-z][a-z0-9_.:-]{0,127}$"
_PARAMETER = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"
_INNER = "[a-z][a-z0-9_]{0,39}"
_PATH = r"(\.[A-Za-z0-9_-]{1,64})*"
REFERENCE = (
    rf"^(input\.{_INNER}{_PATH}|steps\.{_INNER}\.output\.results?{_PATH}|item{_PATH}"
    r"|index|locale|run\.id|team\.id|user\.id|principal\.locale)$"
)

KINDS = {
    "tool": "calls a tool",
    "map": "calls a tool for every item of a list, each as a job of its own",
    "choice": "goes on with one of two later steps",
}
PREDICATES = {
    "empty": 'absent, null, "", [] or {}',
    "exists": "present and not null",
    "equals": "deep JSON equality; no coercion",
    "in": "the first is a member of the second, a list",
    "contains": "the first, a string, list or object, has the second as substring, element or key",
    "starts_with": "the first, a string, begins with the second",
    "greater_than": "two numbers, or two strings by code point",
}
# They ask whether something is there, so that what they name may be absent.
TOTAL = frozenset({"empty", "exists"})
REFERENCES = {
    "input.<name>[.<path>]": "a declared input",
    "steps.<step>.output.result[.<path>]": "a tool step's value, or a choice step's boolean",
    "steps.<step>.output.results[.<path>]": "the entries of a map, in the order of its list: {index, item, state, status, result | error}",
    "item[.<path>]": "the current item of a map",
    "index": "its position, from 0",
    "locale": "the run's locale",
    "run.id": "the run",
    "team.id": "the run's team",
    "user.id": "who started it",
    "principal.locale": "that user's profile locale",
}


def _of(name: str, description: str = "") -> dict[str, Any]:
    reference = {"$ref": f"#/$defs/{name}"}
    return reference | {"description": description} if description else reference


def _text(pattern: str, description: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern, "description": description}


def _record(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def _step(required: list[str], **properties: Any) -> dict[str, Any]:
    known = {"name": True, "kind": True, "description": _of("sentence")}
    return {"required": required, "additionalProperties": False, "properties": known | properties}


def _between(least: int, most: int, description: str = "") -> dict[str, Any]:
    number = {"type": "integer", "minimum": least, "maximum": most}
    return number | {"description": description} if description else number


_TERMINAL = {
    "type": "boolean",
    "description": "When true the run ends after this step; otherwise the next step in order follows.",
}
_DEFINITIONS: dict[str, Any] = {
    # The address of a workflow of that name would be the format's.
    "slug": _text(SLUG, "1 to 63 lower-case letters, digits and dashes, no dash first or last")
    | {"not": {"const": "schema"}},
    "name": _text(NAME, "1 to 40 lower-case letters, digits and underscores, a letter first"),
    "tool": _text(TOOL, "the name of a tool"),
    "sentence": {"type": "string", "maxLength": 500},
    "input": _record(
        ["type"],
        type={"enum": ["string", "number", "integer", "boolean", "object", "array"]},
        description=_of("sentence"),
        optional={"type": "boolean", "description": "Required unless true."},
    ),
    "reference": {
        **_record(
            ["$"], **{"$": _text(REFERENCE, "one of " + ", ".join(REFERENCES)) | {"maxLength": 300}, "default": True}
        ),
        "description": "Replaced by the value it names. An absent value is an error unless default is given.",
    },
    "literal": {
        **_record(["$literal"], **{"$literal": True}),
        "description": "Its value verbatim, never read for references.",
    },
    "value": {
        "if": {"type": "object", "required": ["$"]},
        "then": _of("reference"),
        "else": {
            "if": {"type": "object", "required": ["$literal"]},
            "then": _of("literal"),
            "else": {
                "type": ["string", "number", "boolean", "null", "array", "object"],
                "items": _of("value"),
                "propertyNames": {"pattern": "^[^$]"},
                "additionalProperties": _of("value"),
            },
        },
    },
    "binding": {
        "type": "object",
        "maxProperties": 64,
        "propertyNames": _text(_PARAMETER, "the name of a parameter"),
        "additionalProperties": _of("value"),
    },
    "list": {
        "description": "A reference to a list, or a fixed list.",
        "if": {"type": "array"},
        "then": {"maxItems": MOST_FIXED, "items": _of("value")},
        "else": _of("reference"),
    },
    "pair": {"type": "array", "minItems": 2, "maxItems": 2, "items": _of("value")},
    "predicate": {
        **_record(
            [],
            **{
                name: _of({"empty": "value", "exists": "reference"}.get(name, "pair"), words)
                for name, words in PREDICATES.items()
            },
        ),
        "description": (
            "Exactly one predicate. Negate by swapping then and else; combine by chaining choice steps; "
            "less-than is greater_than with its operands swapped."
        ),
        "minProperties": 1,
        "maxProperties": 1,
    },
    "retry": _between(0, MOST_RETRIES, "Extra attempts after the first, for errors that may pass."),
    "timeout": _between(1, LONGEST_ATTEMPT, "Seconds for one attempt."),
    "step": {
        "type": "object",
        "required": ["name", "kind"],
        "properties": {"name": _of("name"), "kind": {"enum": list(KINDS)}},
        "allOf": [
            {"if": {"required": ["kind"], "properties": {"kind": {"const": kind}}}, "then": _of(f"{kind}_step")}
            for kind in KINDS
        ],
    },
    "tool_step": _step(
        ["tool"],
        tool=_of("tool"),
        **{"with": _of("binding")},
        retry=_of("retry"),
        timeout=_of("timeout"),
        terminal=_TERMINAL,
    ),
    "map_step": _step(
        ["over", "tool"],
        over=_of("list"),
        tool=_of("tool"),
        **{"with": _of("binding", "Resolved once per item; item and index may be used.")},
        on_item_error={
            "enum": ["fail", "collect"],
            "description": "fail (default): the run fails once running items settle. collect: the failure becomes that item's entry.",
        },
        retry=_of("retry", "Per item."),
        timeout=_of("timeout"),
        terminal=_TERMINAL,
    ),
    "choice_step": _step(
        ["when", "then", "else"],
        when=_of("predicate"),
        then=_of("name", "A later step."),
        **{"else": _of("name", "A later step.")},
    ),
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:workspace:workflow:1",
    "title": "Workflow spec, format 1",
    **_record(
        ["slug", "start", "max_steps", "steps"],
        format={"const": FORMAT, "description": "Version of this format; 1 when absent."},
        slug=_of("slug"),
        version=_between(1, 2_147_483_647, "Assigned by the server on publish (last + 1); fixed in a plugin's spec."),
        title={"type": "string", "minLength": 1, "maxLength": 120},
        description={"type": "string", "maxLength": 2000},
        inputs={
            "type": "object",
            "maxProperties": MOST_INPUTS,
            "propertyNames": _of("name"),
            "additionalProperties": _of("input"),
        },
        start=_of("name"),
        max_steps=_between(1, MOST_RUN),
        steps={"type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": _of("step")},
        output=_of("binding", "The run's output; the last finished step's output when absent."),
    ),
    "$defs": _DEFINITIONS,
}
