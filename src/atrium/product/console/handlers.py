"""The wire of the console."""

from typing import Annotated

import msgspec

from atrium.kit.text.languages import LanguageTag
from atrium.product.console import service
from atrium.seams.context import Operation
from atrium.seams.routes import AcceptEncoding, AcceptLanguage, Authorization, Content, Host

Language = Annotated[
    LanguageTag, msgspec.Meta(description="The visitor's language; what their browser asks for when absent.")
]

DraftShown = Annotated[
    bool, msgspec.Meta(description="The saved draft, for who edits the form; else the published one.")
]


async def serve_home(
    op: Operation, *, host: Host | None = None, accept_language: AcceptLanguage | None = None
) -> Content:
    """The browser console; the sign-up form with SERVICE_HOME=beta."""
    return await service.read_home(op, host, accept_language)


async def serve_console(
    op: Operation, *, host: Host | None = None, accept_language: AcceptLanguage | None = None
) -> Content:
    """The browser console, by its file name."""
    return await service.read_page(op, host, accept_language)


async def serve_login(
    op: Operation, *, host: Host | None = None, accept_language: AcceptLanguage | None = None
) -> Content:
    """The browser console, sign-in first."""
    return await service.read_page(op, host, accept_language)


async def serve_activation(
    op: Operation, *, host: Host | None = None, accept_language: AcceptLanguage | None = None
) -> Content:
    """The browser console on the activation screen; the token stays in the address's fragment."""
    return await service.read_page(op, host, accept_language)


async def serve_sdk(op: Operation, *, accept_encoding: AcceptEncoding | None = None) -> Content:
    """The script with which any page shows and sends the sign-up form: `window.Service.beta`."""
    return service.read_sdk(accept_encoding)


async def serve_template(
    op: Operation,
    *,
    locale: Language | None = None,
    draft: DraftShown = False,
    accept_language: AcceptLanguage | None = None,
    authorization: Authorization | None = None,
) -> Content:
    """The sign-up form as a sandboxed page, to be embedded: the experience's own template, else the usual page."""
    if draft:
        return await service.read_draft(op, locale, authorization)
    return await service.read_template(op, locale, accept_language)


async def serve_asset(op: Operation, path: str, *, accept_encoding: AcceptEncoding | None = None) -> Content:
    """A script, style, font or picture of the console."""
    return service.read_asset(path, accept_encoding)


async def serve_worker(op: Operation, *, accept_encoding: AcceptEncoding | None = None) -> Content:
    """The console's service worker."""
    return service.read_worker(accept_encoding)
