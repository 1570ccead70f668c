"""An ICU message as units of prose: each body is one, and plural forms become those of the target language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from atrium.kit.text.icu import (
    Argument,
    Choice,
    Message,
    MessageRefused,
    PlainText,
    Pound,
    Tag,
    parse,
    print_node,
    takes_pound,
)
from atrium.kit.text.languages import PluralKind, has_plural_one, plural_forms
from atrium.product.translation.units.placeholders import Placeholder, Unit, margins, unit_of

# What stands for a choice in the source of the body around it: private characters that no reply may contain.
_STAND_IN = re.compile("\x00(\\d+)\x00")


# Plurals inside each other multiply: ten of them have sixty million forms in Arabic.
_MOST_BODIES = 2_000


@dataclass(slots=True)
class IcuTemplate:
    """A message in the plural forms of its target, with the units that stand in its bodies."""

    message: Message
    units: list[Unit] = field(default_factory=list)
    # Which unit a body is, by where the body is: selectors from the outside to the inside, with the place of each choice.
    places: dict[tuple[object, ...], int] = field(default_factory=dict)

    def filled(self, texts: Sequence[str | None]) -> str:
        """The message with a new source for each unit; None leaves one as it was."""
        return self._body(self.message, (), texts, pound=False)

    def _body(self, body: Message, place: tuple[object, ...], texts: Sequence[str | None], *, pound: bool) -> str:
        choices = {
            number: self._choice(node, (*place, number), texts)
            for number, node in enumerate(body)
            if isinstance(node, Choice)
        }
        unit = self.places.get(place)
        if unit is None:
            return "".join(
                choices[number] if isinstance(node, Choice) else print_node(node, pound=pound)
                for number, node in enumerate(body)
            )
        lead, core, trail = margins(_printed(body, pound=pound))
        new = texts[unit]
        made = lead + (core if new is None else new) + trail
        return _STAND_IN.sub(lambda found: choices[int(found[1])], made)

    def _choice(self, choice: Choice, place: tuple[object, ...], texts: Sequence[str | None]) -> str:
        offset, pound = f" offset:{choice.offset}" if choice.offset else "", takes_pound(choice)
        branches = " ".join(
            f"{name} {{{self._body(body, (*place, name), texts, pound=pound)}}}" for name, body in choice.branches
        )
        return f"{{{choice.name}, {choice.type},{offset} {branches}}}"


def icu_units(source: str, target: str) -> IcuTemplate:
    """The units of a message; refused when it is not one."""
    if "\x00" in source:
        raise MessageRefused("a message has no U+0000", source.index("\x00"))
    made = IcuTemplate(_in_forms_of(target, parse(source)))
    if _bodies(made.message, {}) > _MOST_BODIES:
        raise MessageRefused(f"in {target} its plurals inside each other have more than {_MOST_BODIES} forms", 0)
    _collect(made, made.message, (), pound=False, note="")
    return made


def _collect(made: IcuTemplate, body: Message, place: tuple[object, ...], *, pound: bool, note: str) -> None:
    printed = _printed(body, pound=pound)
    unit = unit_of(
        _pieces(body),
        margins(printed)[1],
        escape=_Escape(pound),
        fits=_Same(tuple(sorted(_promises(body))), pound),
        note=note,
    )
    if unit is not None:
        made.places[place] = len(made.units)
        made.units.append(unit)
    for number, node in enumerate(body):
        if isinstance(node, Choice):
            for name, inner in node.branches:
                inside = f"{node.type} form {name}" if takes_pound(node) else note
                _collect(made, inner, (*place, number, name), pound=takes_pound(node), note=inside)


def _stand_in(number: int) -> str:
    return f"\x00{number}\x00"


def _pieces(body: Message) -> list[str | Placeholder]:
    core = list[str | Placeholder]()
    for number, node in enumerate(body):
        match node:
            case PlainText():
                core.append(node.text)
            case Choice():
                core.append(Placeholder(_stand_in(number)))
            case _:
                core.append(Placeholder(print_node(node), ordered=isinstance(node, Tag)))
    # White space around a body stays outside of it.
    if core and isinstance(core[0], str):
        core[0] = core[0].lstrip()
    if core and isinstance(core[-1], str):
        core[-1] = core[-1].rstrip()
    return [piece for piece in core if piece]


def _printed(body: Message, *, pound: bool) -> str:
    return "".join(
        _stand_in(number) if isinstance(node, Choice) else print_node(node, pound=pound)
        for number, node in enumerate(body)
    )


@dataclass(frozen=True, slots=True)
class _Escape:
    """Turns words into source of a message."""

    pound: bool

    def __call__(self, words: str) -> str:
        return print_node(PlainText(words), pound=self.pound)


@dataclass(frozen=True, slots=True)
class _Same:
    """Whether a new body, read again, has the same nodes besides its words."""

    wanted: tuple[str, ...]
    pound: bool

    def __call__(self, new: str) -> bool:
        wrapped = f"{{n, {'plural' if self.pound else 'select'}, other {{{new}}}}}"
        try:
            (choice,) = parse(wrapped.replace("\x00", ""))
        except (MessageRefused, ValueError):
            return False
        inner = choice.branch("other") if isinstance(choice, Choice) else None
        return inner is not None and tuple(sorted(_promises(inner))) == self.wanted


def _promises(body: Message) -> list[str]:
    return [print_node(node) for node in body if isinstance(node, Argument | Tag | Pound)]


def _in_forms_of(target: str, message: Message) -> Message:
    return tuple(_converted(target, node) if isinstance(node, Choice) else node for node in message)


def _bodies(body: Message, known: dict[int, int]) -> int:
    """How many bodies a message has, written out; forms that are one body in memory are counted once and multiplied."""
    found = known.get(id(body))
    if found is None:
        choices = (node for node in body if isinstance(node, Choice))
        found = known[id(body)] = 1 + sum(_bodies(inner, known) for node in choices for _, inner in node.branches)
    return found


def _converted(target: str, choice: Choice) -> Choice:
    """The choice with the forms of the target: missing ones are made of `other`, forms that never apply are left out."""
    inner = {name: _in_forms_of(target, body) for name, body in choice.branches}
    kind: PluralKind | None = "plural" if choice.type == "plural" else "selectordinal" if takes_pound(choice) else None
    if kind is not None:
        kept = {name: body for name, body in inner.items() if name.startswith("=")}
        inner = kept | {form: _form(target, inner, form, kind) for form in plural_forms(target, kind)}
    return Choice(choice.name, choice.type, tuple(inner.items()), choice.offset)


def _form(target: str, inner: dict[str, Message], form: str, kind: PluralKind) -> Message:
    found = inner.get(form, inner["other"])
    if form == "one" and kind == "plural" and not _names_number(found) and not has_plural_one(target):
        # "One file" would be said of 21 files in Icelandic.
        return inner["other"]
    return found


def _names_number(body: Message) -> bool:
    return any(isinstance(node, Pound | Argument) for node in body)
