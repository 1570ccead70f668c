"""The verbs of the console."""

from pathlib import Path

from atrium.ground.tenancy import service as tenancy
from atrium.kit import catalogs
from atrium.kit.paths import shipped
from atrium.product.branding import service as branding
from atrium.product.console import assets
from atrium.product.console.model import PageFacts
from atrium.product.console.page import WORKER_POLICY, page
from atrium.seams.context import Operation
from atrium.seams.routes import Content


async def read_page(op: Operation, host: str | None, accept_language: str | None) -> Content:
    """The console's page in the look of its hostname, in the language the browser asks for when people may choose."""
    look = await branding.read_branding(op, host, None)
    async with op.begin_system() as ctx:
        instance = await tenancy.read_instance(ctx)
    policy = instance.localization
    default = policy.default_locale
    locale = catalogs.preferred(accept_language, policy.locales, default) if policy.switching else default
    facts = PageFacts(
        title=look.title,
        tagline=look.tagline,
        logo=look.logo,
        theme=look.theme,
        locale=locale,
        localization=policy,
        needs_bootstrap=instance.founding is None,
    )
    return page(built(), facts)


def read_asset(path: str, accept_encoding: str | None) -> Content:
    """A file of the console."""
    return assets.read_asset(built() / "assets", path, accept_encoding)


def read_worker(accept_encoding: str | None) -> Content:
    """The service worker; it must live at the root to see the whole site."""
    return assets.read_asset(built(), "sw.js", accept_encoding, WORKER_POLICY)


def built() -> Path:
    """Where the built console is: in the installed package, or in the checkout's `console/dist`."""
    folder = shipped("console")
    return folder / "dist" if (folder / "package.json").is_file() else folder
