"""Languages: BCP 47 tags, their names, and the plural forms they have by CLDR."""

import re
from functools import lru_cache
from typing import Annotated, Literal

import msgspec
from babel import Locale, UnknownLocaleError

LanguageTag = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*$(?!\n)",
        max_length=35,
        description="A language as a BCP 47 tag, such as `es`, `pt-BR` or `zh-Hant`.",
    ),
]
UNKNOWN = "und"
_TAG = re.compile(LanguageTag.__metadata__[0].pattern)  # type: ignore[attr-defined]
PluralKind = Literal["plural", "selectordinal"]
_EVERY_FORM = ("zero", "one", "two", "few", "many", "other")


def canonical(tag: str) -> str:
    """The tag as it is usually written: language small, script with a capital, region in capitals."""
    language, *rest = tag.split("-")
    return "-".join([language.lower(), *map(_subtag, rest)])


def is_tag(text: object) -> bool:
    """Whether this is a language tag."""
    return isinstance(text, str) and len(text) <= 35 and _TAG.match(text) is not None


def fallback_chain(tag: str) -> list[str]:
    """The tag and its language, the narrower first."""
    return list(dict.fromkeys([canonical(tag), tag.partition("-")[0].lower()]))


@lru_cache(maxsize=256)
def name_of(tag: str) -> str:
    """The English name of a language; the tag itself when it is not known."""
    locale = _locale(tag)
    return (locale and locale.get_display_name("en")) or tag


@lru_cache(maxsize=256)
def plural_forms(tag: str, kind: PluralKind = "plural") -> tuple[str, ...]:
    """The plural forms of a language, `other` last; only that one for a language that CLDR does not know."""
    locale = _locale(tag)
    if locale is None:
        return ("other",)
    rule = locale.plural_form if kind == "plural" else locale.ordinal_form
    return tuple(form for form in _EVERY_FORM if form in rule.tags or form == "other")


@lru_cache(maxsize=256)
def has_plural_one(tag: str) -> bool:
    """Whether the form `one` is for the number 1 alone; in Icelandic it is also for 21, in French for 0."""
    locale = _locale(tag)
    return locale is None or not any(locale.plural_form(number) == "one" for number in (0, *range(2, 1002)))


@lru_cache(maxsize=256)
def _locale(tag: str) -> Locale | None:
    for wanted in fallback_chain(tag):
        try:
            return Locale.parse(wanted, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return None


def _subtag(text: str) -> str:
    if len(text) == 4 and text.isalpha():
        return text.title()
    return text.upper() if len(text) == 2 else text.lower()
