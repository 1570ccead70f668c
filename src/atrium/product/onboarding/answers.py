"""Answers: held against the form they were given to, and the address in them in its one spelling."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import idna

from atrium.product.onboarding.model import BadAnswers
from atrium.seams.onboarding import Experience, FormField

# Longer is no address of any mail server (RFC 5321).
LONGEST_ADDRESS, LONGEST_LOCAL = 254, 64
_LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x20\x7f]+")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
Answers = dict[str, Any]


def require_good(experience: Experience, given: Mapping[str, Any]) -> Answers:
    """The answers in the form's order, trimmed; refuse with the path of each that the form does not take."""
    faults = [
        {"path": f"fields.{name[:60]}", "message": "the form has no such field"}
        for name in given
        if not experience.field(name)
    ]
    kept: Answers = {}
    for field in experience.fields:
        value = _trimmed(given.get(field.name))
        problem = _problem(field, value)
        if problem is not None:
            faults.append({"path": f"fields.{field.name}", "message": problem})
        elif value is not None:
            kept[field.name] = value
    if faults:
        told = "; ".join(f"{fault['path']}: {fault['message']}" for fault in faults[:5])
        raise BadAnswers(told, errors=faults[:50])
    return kept


def address_in(experience: Experience, given: Answers) -> str:
    """The address of who signs up, in its one spelling."""
    name = next(field.name for field in experience.fields if field.type == "email")
    return canonical_address(given[name]) or ""


def canonical_address(text: str) -> str | None:
    """An address in lower case with its domain as IDNA; None for what is no address."""
    local, at, domain = text.strip().rpartition("@")
    if not at or len(text) > LONGEST_ADDRESS or not 0 < len(local) <= LONGEST_LOCAL or not _LOCAL.fullmatch(local):
        return None
    if local.startswith(".") or local.endswith(".") or ".." in local:
        return None
    host = _host(domain)
    return f"{local.lower()}@{host}" if len(host) <= 253 and _HOST.fullmatch(host) else None


def _host(domain: str) -> str:
    # Most domains are spelled as IDNA would spell them, which takes it a hundred times as long to find out.
    if domain.isascii() and "--" not in domain:
        return domain.lower()
    try:
        return idna.encode(domain, uts46=True).decode().lower()
    except (idna.IDNAError, UnicodeError):
        return ""


def _trimmed(value: Any) -> Any:
    text = value.strip() if isinstance(value, str) else value
    return None if text == "" else text


def _problem(field: FormField, value: Any) -> str | None:
    if field.type in ("checkbox", "consent"):
        if not isinstance(value, bool | None):
            return "must be true or false"
        return "must be agreed to" if field.required and value is not True else None
    if value is None:
        return "is required" if field.required else None
    if not isinstance(value, str):
        return "must be text"
    if len(value) > field.most:
        return f"must have at most {field.most} characters"
    if _CONTROL.search(value) or (field.type != "textarea" and "\n" in value):
        return "has characters that cannot be typed here"
    return _TYPES[field.type](field, value) if field.type in _TYPES else None


def _bad_address(field: FormField, value: str) -> str | None:
    return None if canonical_address(value) else "must be an e-mail address, such as ada@example.com"


def _bad_url(field: FormField, value: str) -> str | None:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", value)
    except ValueError:
        sound = False
    return None if sound else "must be an address that begins with https://"


def _bad_choice(field: FormField, value: str) -> str | None:
    return None if value in field.options else "must be one of the choices"


_TYPES = {"email": _bad_address, "url": _bad_url, "select": _bad_choice}
