"""An onboarding experience: the sign-up form with its copy, its look and what a model judges by."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

LARGEST = 256 << 10
# The form's trap for robots has this name.
RESERVED = "hp"
# What an answer may have at most where the field does not say; in characters.
USUAL_MAX, LONGEST_TEXT = 500, 5_000
FieldType = Literal["text", "email", "url", "textarea", "select", "checkbox", "consent"]
AssetKind = Literal["logo", "hero", "font"]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Line = Annotated[str, msgspec.Meta(max_length=2_000)]
CopyKey = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,39}$(?!\n)")]
CopyText = Annotated[str, msgspec.Meta(max_length=10_000)]
Copy = Annotated[dict[CopyKey, CopyText], msgspec.Meta(max_length=200)]
Options = Annotated[list[Label], msgspec.Meta(max_length=200)]
FieldName = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,39}$(?!\n)")]
OverlayTag = Annotated[str, msgspec.Meta(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$(?!\n)")]
EmbedOrigin = Annotated[str, msgspec.Meta(pattern=r"^https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?$(?!\n)")]


class FormField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of the form."""

    name: FieldName
    type: FieldType
    label: Label
    help: Line = ""
    required: bool = False
    max: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    options: Options = []

    @property
    def most(self) -> int:
        """The most characters an answer may have."""
        return self.max or (LONGEST_TEXT if self.type == "textarea" else USUAL_MAX)


class FieldOverlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field's texts in another language; `options` has a label for each option, in their order."""

    label: Label | None = None
    help: Line | None = None
    options: Options | None = None


class Overlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of one language that replace those of the experience."""

    copy: Copy = {}
    fields: dict[FieldName, FieldOverlay] = {}


class Experience(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a visitor is shown and asked; `locales` replaces texts by language."""

    fields: Annotated[list[FormField], msgspec.Meta(min_length=1, max_length=30)]
    copy: Copy = {}
    theme: dict[str, Any] = {}
    judge_prompt: str = ""
    assets: dict[AssetKind, UUID] = {}
    template: str | None = None
    locales: Annotated[dict[OverlayTag, Overlay], msgspec.Meta(max_length=100)] = {}
    embed_origins: Annotated[list[EmbedOrigin], msgspec.Meta(max_length=50)] = []

    def field(self, name: str) -> FormField | None:
        """The field of this name; None when there is none."""
        return next((one for one in self.fields if one.name == name), None)


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
    for field in found.fields:
        if (field.type == "select") != bool(field.options) or len(set(field.options)) < len(field.options):
            yield f"field {field.name}: a select, and no other type, has options, each of them once"
    for tag, overlay in found.locales.items():
        yield from (f"locales.{tag}: {text}" for text in _problems_with_overlay(found, overlay))


def _problems_with_overlay(found: Experience, overlay: Overlay) -> Iterator[str]:
    for name, texts in overlay.fields.items():
        field = found.field(name)
        if field is None:
            yield f"there is no field {name}"
        elif texts.options is not None and len(texts.options) != len(field.options):
            yield f"field {name} has {len(field.options)} options, and as many labels"
    if unknown := [name for name in overlay.copy if name not in found.copy]:
        yield f"copy has no {', '.join(unknown[:5])}"
