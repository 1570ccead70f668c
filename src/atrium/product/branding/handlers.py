"""The wire of branding."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET

from atrium.product.branding import service
from atrium.product.branding.logo import BODY_LIMIT
from atrium.product.branding.model import Branding, EditableBranding, Logo, Tagline, Title
from atrium.product.branding.tokens import SCHEMA
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Authorization, Host, IfMatch

SentTheme = Annotated[dict[str, Any], msgspec.Meta(extra_json_schema=SCHEMA)]


async def read_branding(
    op: Operation, *, host: Host | None = None, authorization: Authorization | None = None
) -> Branding:
    """Title, tagline, logo and theme tokens: the company's on its hostname and to its people, else the instance's."""
    return await service.read_branding(op, host, authorization)


class BrandingDraft(msgspec.Struct, forbid_unknown_fields=True):
    """Title, tagline and theme as a whole: what is absent or null is inherited. An absent logo stays, a null one goes."""

    __body_limit__: ClassVar[int] = BODY_LIMIT

    title: Title | None = None
    tagline: Tagline | None = None
    theme: SentTheme | None = None
    logo: Logo = UNSET


async def replace_branding(op: Operation, body: BrandingDraft, *, if_match: IfMatch | None = None) -> EditableBranding:
    """Set the instance's title, tagline and theme; a token that cannot be used is named, with the nearest colour that can."""
    return await service.replace_branding(op, body.title, body.tagline, body.theme or {}, body.logo, if_match)


class LogoUpload(msgspec.Struct, forbid_unknown_fields=True):
    """A PNG, JPEG or WebP image of at most 1 MiB: base64, or a data: URI."""

    __body_limit__: ClassVar[int] = BODY_LIMIT

    data: str


async def upload_logo(op: Operation, body: LogoUpload) -> EditableBranding:
    """Set the instance's logo."""
    return await service.upload_logo(op, body.data)


async def read_company_branding(ctx: Context) -> EditableBranding:
    """The company's branding, or the instance's with `own: false` while the company has set none."""
    return await service.read_company_branding(ctx)


async def replace_company_branding(
    op: Operation, body: BrandingDraft, *, if_match: IfMatch | None = None
) -> EditableBranding:
    """Set the company's title, tagline, theme and logo, on top of the instance's and gated like them."""
    return await service.replace_company_branding(op, body.title, body.tagline, body.theme or {}, body.logo, if_match)


async def drop_company_branding(ctx: Context, *, if_match: IfMatch | None = None) -> EditableBranding:
    """Drop the company's branding; the reply is the instance's, which shows from now on."""
    return await service.drop_company_branding(ctx, if_match)


async def upload_company_logo(op: Operation, body: LogoUpload) -> EditableBranding:
    """Set the company's logo."""
    return await service.upload_company_logo(op, body.data)
