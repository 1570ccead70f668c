"""An example for every JSON body, made from its struct: what is required, and what a reader would want to see filled in."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec import inspect

ID = UUID("01920000-0000-7000-8000-000000000001")
# What a field of this name looks like, wherever it appears. A struct that needs other values has an `__example__`.
BY_NAME: dict[str, Any] = {
    "body": "- send the offer",
    "capability": "edit",
    "claim_token": "the token that came with the job",
    "code": "123456",
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "dimension": "ai.requests",
    "display_name": "Ada Lovelace",
    "enabled": True,
    "error": "the printer is out of paper",
    "expires_in": 3600,
    "input": {"text": "to be or not to be"},
    "key": "reports/2026.pdf",
    "kind": "x.example-tools.word-count",
    "kinds": ["x.integrator-demo.lane-report"],
    "limit": 1000,
    "locale": "en",
    "max_wait": 30,
    "name": "North",
    "new_password": "a phrase only you know",
    "org": "Acme",
    "password": "a phrase only you know",
    "permission": "notes:write",
    "plan": "team",
    "prompt": "Good morning",
    "result": {"words": 6},
    "role": "member",
    "roles": {"utility": "local"},
    "slug": "acme",
    "team": "Core",
    "title": "Meeting",
    "token": "the token that was handed over",
    "user_id": str(ID),
    "username": "ada",
    "version": 1,
    "visibility": "team",
    "window": "day",
}
# Optional fields that say what a body is for; the others are left out, as most callers do.
SHOWN = {
    "body", "capability", "claim_token", "display_name", "expires_in", "input", "locale", "max_wait", "prompt", "title",
    "user_id", "visibility",
}  # fmt: skip


def example_of(kind: Any) -> Any:
    """A body that this type accepts."""
    own = getattr(kind, "__example__", None)
    return own if own is not None else _value("", inspect.type_info(kind))


def _value(name: str, found: inspect.Type) -> Any:
    if isinstance(found, inspect.Metadata):
        given = (found.extra_json_schema or {}).get("examples")
        return given[0] if given else _value(name, found.type)
    if isinstance(found, inspect.UnionType):
        return _value(name, next(one for one in found.types if not isinstance(one, inspect.NoneType)))
    if isinstance(found, inspect.StructType):
        fields = [one for one in found.fields if one.required or one.encode_name in SHOWN] or list(found.fields[:1])
        return {one.encode_name: _value(one.encode_name, one.type) for one in fields}
    if isinstance(found, inspect.EnumType | inspect.LiteralType):
        allowed = found.values if isinstance(found, inspect.LiteralType) else msgspec.to_builtins(list(found.cls))
        return BY_NAME[name] if BY_NAME.get(name) in allowed else allowed[0]
    return BY_NAME.get(name, _plain(found))


def _plain(found: inspect.Type) -> Any:
    match found:
        case inspect.UUIDType():
            return str(ID)
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return found.ge or 1
        case inspect.DateTimeType():
            return "2027-01-31T12:00:00Z"
        case inspect.ListType():
            return [_value("", found.item_type)]
        case inspect.DictType() | inspect.AnyType():
            return {}
        case _:
            return "text"
