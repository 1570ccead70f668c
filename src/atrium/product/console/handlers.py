"""The wire of the console."""

from atrium.product.console import service
from atrium.seams.context import Operation
from atrium.seams.routes import AcceptEncoding, AcceptLanguage, Content, Host


async def serve_home(
    op: Operation, *, host: Host | None = None, accept_language: AcceptLanguage | None = None
) -> Content:
    """The browser console."""
    return await service.read_page(op, host, accept_language)


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


async def serve_asset(op: Operation, path: str, *, accept_encoding: AcceptEncoding | None = None) -> Content:
    """A script, style, font or picture of the console."""
    return service.read_asset(path, accept_encoding)


async def serve_worker(op: Operation, *, accept_encoding: AcceptEncoding | None = None) -> Content:
    """The console's service worker."""
    return service.read_worker(accept_encoding)
