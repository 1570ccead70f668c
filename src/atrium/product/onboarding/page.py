"""The funnel's pages: the usual one, and an operator's own template in a sandbox. Neither knows more than anybody may."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

import msgspec

from atrium.ground.identity import service as identity
from atrium.kit.errors import Unauthenticated
from atrium.product.localization import service as localization
from atrium.product.onboarding import template
from atrium.product.onboarding.funnel import funnel_of
from atrium.product.onboarding.model import FunnelConfig, FunnelMissing
from atrium.product.onboarding.service import config_in, read_config, read_current, read_draft_config
from atrium.seams.context import Operation
from atrium.seams.onboarding import Experience
from atrium.seams.routes import Content

HTML = "text/html; charset=utf-8"
NAMESPACE = "beta"
# The page runs its own script and style, named by their digests, and the SDK; text never becomes script.
_PAGE = (
    "default-src 'none'; script-src 'self' {script}; style-src {style}; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {framed}; require-trusted-types-for 'script'; trusted-types 'none'"
)
# Without a logo there is no picture, and without this address every first visit asks for one that is not there.
_NO_ICON = "data:,"
_SANDBOX = "sandbox allow-scripts allow-forms; "
# A template's author writes styles; scripts come from files of this server alone.
_TEMPLATE = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors {framed}"
)


async def is_owned(op: Operation) -> bool:
    """Whether the instance is set up, so that there is a team that strangers can sign up with."""
    return await funnel_of(op.services).find_owner(op) is not None


async def read_page(op: Operation, built: Path, accept_language: str | None) -> Content:
    """The sign-up form at the root address."""
    config = await read_config(op, None, accept_language)
    return await _page(op, built, config, "", "'none'")


async def read_template(op: Operation, built: Path, locale: str | None, accept_language: str | None) -> Content:
    """The form in a sandbox with an opaque origin: the experience's own template, else the usual page."""
    funnel = funnel_of(op.services)
    config = await config_in(op, funnel, locale, accept_language)
    _, experience = await read_current(op)
    if experience.template is not None:
        funnel.count("opened")
    return await _sandboxed(op, built, experience, config)


async def read_draft(op: Operation, built: Path, locale: str | None, authorization: str | None) -> Content:
    """The saved draft as visitors would get it, for its editors, inside of our own pages alone; no visitor is counted."""
    who = await identity.identify_optional(op, authorization)
    if who is None:
        raise Unauthenticated("sign in first: a draft is shown to who edits it")
    experience, config = await read_draft_config(op.acting_as(who), locale)
    return await _sandboxed(op, built, msgspec.structs.replace(experience, embed_origins=[]), config)


def framed_by(origins: Sequence[str]) -> str:
    """Which pages may show the form inside of theirs."""
    return " ".join(["'self'", *origins])


async def _sandboxed(op: Operation, built: Path, experience: Experience, config: FunnelConfig) -> Content:
    framed = framed_by(experience.embed_origins)
    if experience.template is None:
        return await _page(op, built, config, _SANDBOX, framed)
    body = template.fill(experience.template, lambda kind, name: _text(config, kind, name))
    return Content(body.encode(), HTML, _SANDBOX + _TEMPLATE.format(framed=framed))


async def _page(op: Operation, built: Path, config: FunnelConfig, before: str, framed: str) -> Content:
    try:
        script, style = (built / "page.js").read_text("utf-8"), (built / "page.css").read_text("utf-8")
    except OSError as error:
        raise FunnelMissing("the sign-up form's page is not built; run `make console`") from error
    words = await localization.read_catalog(op, config.locale, [NAMESPACE])
    named = {key.removeprefix(f"{NAMESPACE}."): text for key, text in words.messages.items()}
    facts = msgspec.json.encode({"config": config, "words": named}).decode().replace("<", "\\u003c")
    title = config.copy.get("title") or named.get("title", "")
    body = (
        f'<!doctype html><html lang="{escape(config.locale, quote=True)}" dir="{_direction(config.locale)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
        f'<link rel="icon" href="{escape(config.assets.get("logo", _NO_ICON), quote=True)}"><style>{style}</style></head>'
        f'<body><main></main><script type="application/json" id="funnel">{facts}</script>'
        f'<script src="/beta-sdk.js"></script><script>{script}</script></body></html>'
    )
    policy = before + _PAGE.format(script=_digest(script), style=_digest(style), framed=framed)
    return Content(body.encode(), HTML, policy)


def _text(config: FunnelConfig, kind: str, name: str) -> str:
    if kind == "page":
        return config.locale if name == "locale" else _direction(config.locale)
    if kind == "copy":
        return config.copy.get(name, "")
    if kind == "asset":
        return config.assets.get(name, "")
    field = next((one for one in config.fields if one.name == name), None)
    return "" if field is None else field.help if kind == "help" else field.label


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _direction(locale: str) -> str:
    return "rtl" if locale.partition("-")[0] in ("ar", "fa", "he", "ur", "yi") else "ltr"
