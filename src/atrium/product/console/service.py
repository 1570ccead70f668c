"""The verbs of the console."""

from dataclasses import replace
from pathlib import Path

from atrium.ground.tenancy import service as tenancy
from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from atrium.product.branding import service as branding
from atrium.product.console import assets
from atrium.product.console.model import PageFacts
from atrium.product.console.page import WORKER_POLICY, page
from atrium.product.onboarding import page as funnel_page
from atrium.seams.context import Operation
from atrium.seams.routes import Content
from atrium.seams.setting_values import Home

# The sign-up form's own build, beside the console's.
FUNNEL = "funnel"


async def read_home(op: Operation, host: str | None, accept_language: str | None) -> Content:
    """What the root address shows: the console, or the sign-up form once the instance is set up."""
    if op.services.settings.home is Home.BETA and await funnel_page.is_owned(op):
        return await funnel_page.read_page(op, built() / FUNNEL, accept_language)
    return await read_page(op, host, accept_language)


async def read_template(op: Operation, locale: str | None, accept_language: str | None) -> Content:
    """The sign-up form as a sandboxed page."""
    return await funnel_page.read_template(op, built() / FUNNEL, locale, accept_language)


async def read_draft(op: Operation, locale: str | None, authorization: str | None) -> Content:
    """The draft of the sign-up form as a sandboxed page, for its editors."""
    return await funnel_page.read_draft(op, built() / FUNNEL, locale, authorization)


async def read_page(op: Operation, host: str | None, accept_language: str | None) -> Content:
    """The console's page in the look of its hostname, in the language the browser asks for when people may choose."""
    look = await branding.read_branding(op, host, None)
    async with op.begin_system() as ctx:
        instance = await tenancy.read_instance(ctx)
    policy = instance.localization
    default = policy.default_locale
    locale = catalogs.choose_locale(accept_language, policy.locales, default) if policy.switching else default
    facts = PageFacts(
        title=look.title,
        tagline=look.tagline,
        logo=look.logo,
        theme=look.theme,
        locale=locale,
        localization=policy,
        needs_bootstrap=instance.founding is None,
        home=op.services.settings.home,
    )
    return page(built(), facts)


def read_asset(path: str, accept_encoding: str | None) -> Content:
    """A file of the console."""
    return assets.read_asset(built() / "assets", path, accept_encoding)


def read_sdk(accept_encoding: str | None) -> Content:
    """The script of the sign-up form, for pages of every origin."""
    return replace(assets.read_asset(built() / FUNNEL, "sdk.js", accept_encoding), shared=True)


def read_worker(accept_encoding: str | None) -> Content:
    """The service worker; it must live at the root to see the whole site."""
    return assets.read_asset(built(), "sw.js", accept_encoding, WORKER_POLICY)


def built() -> Path:
    """Where the built console is: in the installed package, or in the checkout's `console/dist`."""
    folder = shipped_path("console")
    return folder / "dist" if (folder / "package.json").is_file() else folder
