"""The verbs of branding. A company's look lies on the instance's, field by field; module `theme` says how colours combine."""

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import asdict

from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.tenancy.domains import host_of
from atrium.kit.errors import Missing
from atrium.kit.ids import new_id
from atrium.kit.web.etags import names_tag
from atrium.product.branding import store
from atrium.product.branding.logo import redraw
from atrium.product.branding.model import (
    DEFAULT_TITLE,
    Branding,
    BrandingStale,
    EditableBranding,
    Inherited,
    Layers,
    Logo,
)
from atrium.product.branding.theme import overrides, require_legible, require_well_formed, resolve
from atrium.seams.context import Context, Operation


async def read_branding(op: Operation, host: str | None, authorization: str | None) -> Branding:
    """The look of the hostname's company, else of the caller's, else of the instance.

    The hostname wins: visitors of a company's hostname see its branding, also when signed in to another company.
    """
    who = await identity.identify_optional(op, authorization)
    if who is None:
        return _shown(await store.read_public_layers(op.services.database, host_of(host)))
    async with op.acting_as(who).begin() as ctx:
        return _shown(_found(await store.find_layers_on_host(ctx.db, host_of(host))))


async def replace_branding(
    op: Operation, title: str | None, tagline: str | None, theme: Mapping[str, object], logo: Logo, if_match: str | None
) -> EditableBranding:
    """Set the instance's title, tagline and theme, all three; the logo only when it is named."""
    tokens, drawn = require_well_formed(theme), await _drawn(logo)
    async with op.begin_system() as ctx:
        before = _found(await store.lock_instance(ctx.db))
        _require_current(before, if_match)
        require_legible(tokens, resolve({}))
        await store.update_instance(ctx.db, title, tagline, tokens, new_id())
        if drawn is not UNSET and logo != before.logo:
            await store.update_instance_logo(ctx.db, drawn, new_id())
        return await _instance_changed(ctx, "branding.changed")


async def upload_logo(op: Operation, sent: str) -> EditableBranding:
    """Set the instance's logo."""
    drawn = await redraw(sent)
    async with op.begin_system() as ctx:
        await store.update_instance_logo(ctx.db, drawn, new_id())
        return await _instance_changed(ctx, "branding.logo_changed")


async def read_company_branding(ctx: Context) -> EditableBranding:
    """The look of the caller's company, and what it has set itself; the instance's look while that is nothing."""
    return _editable(await _company_layers(ctx))


async def replace_company_branding(
    op: Operation, title: str | None, tagline: str | None, theme: Mapping[str, object], logo: Logo, if_match: str | None
) -> EditableBranding:
    """Set the company's title, tagline and theme, all three; the logo only when it is named."""
    tokens, drawn = require_well_formed(theme), await _drawn(logo)
    async with op.begin() as ctx:
        before = await _lock_company(ctx, if_match)
        palette = require_legible(tokens, resolve(before.theme))
        await store.put_company(ctx.db, ctx.who.org_id, title, tagline, tokens, palette, new_id())
        if drawn is not UNSET and logo != before.logo:
            await store.put_company_logo(ctx.db, ctx.who.org_id, drawn, new_id())
        return await _company_changed(ctx, "branding.company_changed")


async def upload_company_logo(op: Operation, sent: str) -> EditableBranding:
    """Set the company's logo."""
    drawn = await redraw(sent)
    async with op.begin() as ctx:
        await _lock_company(ctx, None)
        await store.put_company_logo(ctx.db, ctx.who.org_id, drawn, new_id())
        return await _company_changed(ctx, "branding.company_logo_changed")


async def drop_company_branding(ctx: Context, if_match: str | None) -> EditableBranding:
    """Forget all that the company has set; it looks like the instance again."""
    await _lock_company(ctx, if_match)
    if not await store.delete_company(ctx.db, ctx.who.org_id):
        return await read_company_branding(ctx)
    return await _company_changed(ctx, "branding.company_dropped")


async def _drawn(logo: Logo) -> Logo:
    return await redraw(logo) if isinstance(logo, str) else logo


async def _lock_company(ctx: Context, if_match: str | None) -> Layers:
    await store.lock_company(ctx.db, ctx.who.org_id)
    layers = await _company_layers(ctx)
    _require_current(layers, if_match)
    return layers


async def _company_layers(ctx: Context) -> Layers:
    return _found(await store.find_company_layers(ctx.db, ctx.who.org_id))


async def _company_changed(ctx: Context, kind: str) -> EditableBranding:
    after = await read_company_branding(ctx)
    await _record(ctx, kind, ctx.who.org_id, after)
    return after


async def _instance_changed(ctx: Context, kind: str) -> EditableBranding:
    layers = _found(await store.lock_instance(ctx.db))
    after = EditableBranding(
        **asdict(_shown(layers)),
        own_title=layers.title,
        own_tagline=layers.tagline,
        own_logo=layers.logo is not None,
        own_theme=layers.theme,
        inherited=Inherited(title=DEFAULT_TITLE, tagline="", theme={}),
    )
    await _record(ctx, kind, "instance", after)
    return after


async def _record(ctx: Context, kind: str, subject: object, after: EditableBranding) -> None:
    await audit.record(
        ctx,
        kind,
        subject,
        title=after.own_title,
        tagline=after.own_tagline,
        theme=after.own_theme,
        logo=after.own_logo,
    )


def _shown(layers: Layers) -> Branding:
    own_theme = layers.own_theme or {}
    palette = resolve(layers.theme, own_theme, layers.own_palette or {})
    texts = (layers.own_title, layers.own_tagline)
    return Branding(
        title=layers.own_title or layers.title or DEFAULT_TITLE,
        tagline=next((text for text in (layers.own_tagline, layers.tagline) if text is not None), ""),
        logo=layers.logo,
        theme=overrides(palette, layers.theme, own_theme),
        own=bool(own_theme) or layers.own_logo or texts != (None, None),
        revision=f"{layers.revision.hex[-12:]}-{layers.own_revision.hex[-12:] if layers.own_revision else 0}",
    )


def _editable(layers: Layers) -> EditableBranding:
    return EditableBranding(
        **asdict(_shown(layers)),
        own_title=layers.own_title,
        own_tagline=layers.own_tagline,
        own_logo=layers.own_logo,
        own_theme=layers.own_theme or {},
        inherited=Inherited(
            title=layers.title or DEFAULT_TITLE,
            tagline=layers.tagline or "",
            theme=overrides(resolve(layers.theme), layers.theme),
        ),
    )


def _require_current(layers: Layers, if_match: str | None) -> None:
    current = _shown(layers).etag()
    if if_match is not None and not names_tag(if_match, current):
        raise BrandingStale("this branding changed after you read it; read it, merge, and save again", current=current)


def _found(layers: Layers | None) -> Layers:
    if layers is None:
        raise Missing("the row of the instance's own look is gone from the database")
    return layers
