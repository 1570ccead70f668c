"""An onboarding experience: the sign-up form with its copy, its look and what a model judges by."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

LARGEST = 256 << 10
# The form's trap for robots has this name.
RESERVED = "hp"


class FormField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of the form."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    type: Literal["text", "email", "url", "textarea", "select", "checkbox", "consent"]
    label: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    help: str = ""
    required: bool = False
    max: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    options: list[str] = []


class Experience(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a visitor is shown and asked; `locales` replaces texts by language."""

    fields: Annotated[list[FormField], msgspec.Meta(min_length=1, max_length=30)]
    copy: dict[str, str] = {}
    theme: dict[str, Any] = {}
    judge_prompt: str = ""
    assets: dict[str, Any] = {}
    template: str | None = None
    locales: dict[str, Any] = {}
    embed_origins: list[str] = []


def read_experience(document: Mapping[str, Any]) -> Experience:
    """The experience that a JSON object is; a ValueError says what is wrong with it."""
    if len(msgspec.json.encode(document)) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    found = msgspec.convert(document, Experience)
    if problems := list(_problems(found)):
        raise ValueError("; ".join(problems))
    return found


def _problems(found: Experience) -> Iterator[str]:
    names = [field.name for field in found.fields]
    if len(set(names)) < len(names):
        yield "two fields have the same name"
    if RESERVED in names:
        yield f"no field can be named {RESERVED}"
    if [field.required for field in found.fields if field.type == "email"] != [True]:
        yield "exactly one field is of type email, and it is required"
