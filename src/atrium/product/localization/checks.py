"""What is wrong with a text in place of its source: errors keep it out, warnings travel with it."""

import re
from collections.abc import Iterator
from functools import lru_cache

from atrium.kit.text.catalogs import CONTROL, LONGEST_TEXT
from atrium.kit.text.icu import Argument, MessageRefused, Signature, parse, print_node, signature, walk
from atrium.kit.text.languages import plural_forms
from atrium.product.localization.model import TextCheck
from atrium.product.translation.terms import Glossary, is_followed

_SPECIAL = re.compile(r"[{}<'#]")
# Words and bare arguments alone: most messages that are not plain, and read without a parser.
_BARE, _ARGUMENT = re.compile(r"[^{}<'#]*(?:\{\w+\}[^{}<'#]*)+\Z"), re.compile(r"\{(\w+)\}")
# What is a number, or a moment, may be shown in any of these ways; of what has no type only a text can be expected.
_NUMBER = frozenset({"number", "plural", "selectordinal", "spellout", "ordinal", "duration"})
_MOMENT = frozenset({"date", "time"})
_SHOWN = frozenset({"", "number", "date", "time"})
_MOST_TERMS = 20


def check(source: str, text: str, locale: str, max_length: int | None) -> list[TextCheck]:
    """Every fault of a text: its errors, or else its warnings."""
    return errors_of(source, text, max_length) or [
        TextCheck(code, "warning", message) for code, message in _warnings(source, text, locale)
    ]


def errors_of(source: str, text: str, max_length: int | None) -> list[TextCheck]:
    """What keeps a text out."""
    return [TextCheck(code, "error", message) for code, message in _errors(source, text, max_length)]


def check_terms(glossary: Glossary, source: str, text: str) -> list[TextCheck]:
    """A warning for each term of the source whose wanted words a text does not have."""
    missed = [one for one in glossary.occurring(source) if not is_followed(one, text)]
    said = [f"the glossary wants “{one.wanted}” for “{one.term}”" for one in missed[:_MOST_TERMS]]
    return [TextCheck("glossary", "warning", message) for message in said]


def is_plain(text: str) -> bool:
    """Whether a text has nothing that a parser would have to look at."""
    return _SPECIAL.search(text) is None


def arguments_of(source: str) -> dict[str, str]:
    """The arguments of a message with their types; none of one that cannot be read."""
    if is_plain(source):
        return {}
    try:
        return dict(_of_source(source)[0].arguments)
    except MessageRefused:
        return {}


def is_readable(source: str) -> bool:
    """Whether a source can be read, so that a text is held to what it promises."""
    if is_plain(source):
        return True
    try:
        return bool(_of_source(source))
    except MessageRefused:
        return False


def has_same_promises(source: str, text: str) -> bool:
    """Whether a text takes the arguments and tags of its source, so that it can be shown in its place."""
    if is_plain(source) and is_plain(text):
        return True
    try:
        return not [*_faults(source, text)]
    except MessageRefused:
        # A source that cannot be read promises nothing that a text could break.
        return source == text


def _errors(source: str, text: str, max_length: int | None) -> Iterator[tuple[str, str]]:
    if source.strip() and not text.strip():
        yield "empty", "write a text; the source has one"
        return
    if found := CONTROL.search(text):
        yield (
            "character",
            f"take out U+{ord(found[0]):04X} at character {found.start() + 1}; no file format can hold it",
        )
    if len(text) > (max_length or LONGEST_TEXT):
        yield "too_long", f"make it shorter: {len(text)} characters, and at most {max_length or LONGEST_TEXT} are shown"
    if is_plain(source) and is_plain(text):
        return
    try:
        wanted, _ = _of_source(source)
    except MessageRefused:
        return
    try:
        yield from _faults(source, text)
    except MessageRefused as error:
        yield "syntax", _told(str(error), text, wanted)


def _told(problem: str, text: str, wanted: Signature) -> str:
    swallowed = next((name for name in wanted.arguments if f"'{{{name}" in text), None)
    return problem if swallowed is None else f"{problem}; an apostrophe before {{{swallowed}}} is written twice"


def _faults(source: str, text: str) -> Iterator[tuple[str, str]]:
    """What differs between what two messages promise; refused when one of them cannot be read."""
    (wanted, usual), (found, unusual) = _of_source(source), _of_text(text)
    yield from _differences(wanted, found)
    for one in sorted(unusual - usual):
        yield "types", f"write {one} as the source does: the console cannot show it this way"


def _differences(wanted: Signature, found: Signature) -> Iterator[tuple[str, str]]:
    for name in wanted.arguments.keys() - found.arguments.keys():
        yield "arguments", f"add {{{name}}}: the source has it"
    for name in found.arguments.keys() - wanted.arguments.keys():
        yield "arguments", f"take out {{{name}}}: the source does not have it"
    for name in sorted(wanted.arguments.keys() & found.arguments.keys()):
        one, other = wanted.arguments[name], found.arguments[name]
        if one != other and other and not ({one, other} <= _NUMBER or {one, other} <= _MOMENT):
            yield "types", f"{{{name}}} is {other or 'plain'} here and {one or 'plain'} in the source"
    for name in sorted(wanted.tags.keys() | found.tags.keys()):
        if bool(wanted.tags[name]) != bool(found.tags[name]):
            told = (
                f"add <{name}>: the source has it"
                if wanted.tags[name]
                else f"take out <{name}>: the source does not have it"
            )
            yield "tags", told
    for name, keys in sorted(wanted.selects.items()):
        have = found.selects.get(name)
        if have is None:
            yield "select_keys", f"{{{name}}} chooses between {', '.join(sorted(keys))} in the source"
        elif have != keys:
            different = ", ".join(sorted(have ^ keys))
            yield "select_keys", f"{{{name}}} has the choices {', '.join(sorted(keys))}; these differ: {different}"


def _warnings(source: str, text: str, locale: str) -> Iterator[tuple[str, str]]:
    if source == text and any(map(str.isalpha, text)) and not locale.startswith("en"):
        yield "same_as_source", "it reads like the source"
    if _edges(source) != _edges(text):
        yield "spaces", "the white space before or after it differs from the source"
    if is_plain(text):
        return
    try:
        found, _ = _of_text(text)
    except MessageRefused:
        return
    for name, forms in sorted(found.plurals.items()):
        kind = "selectordinal" if found.arguments.get(name) == "selectordinal" else "plural"
        if missing := [form for form in plural_forms(locale, kind) if form not in forms]:
            yield "plural_forms", f"{{{name}}} lacks the forms {', '.join(missing)} of this language"


def _edges(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _promises(text: str) -> tuple[Signature, frozenset[str]]:
    """What a message promises, and its arguments that the console's formatter cannot show: by a type that it has not, or by a skeleton."""
    if _BARE.match(text):
        return Signature(dict.fromkeys(_ARGUMENT.findall(text), "")), frozenset()
    message = parse(text)
    arguments = [node for node in walk(message) if isinstance(node, Argument)]
    unusual = frozenset(print_node(one) for one in arguments if one.type not in _SHOWN or one.style.startswith("::"))
    return signature(message), unusual


# A source is asked about once for each locale, a text a few times in a row.
_of_source = lru_cache(maxsize=16_384)(_promises)
_of_text = lru_cache(maxsize=256)(_promises)
