"""Experiences: the one judge of a document, wherever it comes from, and what a visitor gets of it in their language."""

from collections.abc import Mapping
from typing import Any

import msgspec

from atrium.kit.text import catalogs
from atrium.product.branding.model import BadToken
from atrium.product.branding.theme import require_legible, require_well_formed, resolve
from atrium.product.onboarding import template
from atrium.product.onboarding.model import FunnelConfig, FunnelField, FunnelOption
from atrium.seams.onboarding import Experience, FieldOverlay, FormField, read_experience


def read(document: Mapping[str, Any]) -> Experience:
    """The experience that a JSON object is: form, texts, look and template judged; a ValueError says what is wrong."""
    found = read_experience(document)
    try:
        require_legible(require_well_formed(found.theme), resolve({}))
    except BadToken as error:
        raise ValueError(error.message) from error
    if found.template is not None and (problems := list(template.problems_with(found.template, found))):
        raise ValueError("; ".join(f"template: {text}" for text in problems[:10]))
    return found


def document_of(experience: Experience) -> dict[str, Any]:
    """The experience as a JSON object."""
    found: dict[str, Any] = msgspec.to_builtins(experience)
    return found


def public_config(
    experience: Experience, version: int, wanted: str, default: str, look: Mapping[str, str]
) -> FunnelConfig:
    """What a visitor gets: the texts of the first language in the chain that has each, and never the judge or the origins."""
    chain = [tag for tag in catalogs.fallback_chain(wanted, default) if tag in experience.locales]
    return FunnelConfig(
        locale=chain[0] if chain else default,
        version=version,
        fields=[_field(experience, field, chain) for field in experience.fields],
        copy=_copy(experience, chain),
        theme=_theme(experience, look),
        assets={kind: address_of(str(id)) for kind, id in experience.assets.items()},
    )


def address_of(asset_id: str) -> str:
    """Where anybody fetches a file of the funnel."""
    return f"/api/beta/asset/{asset_id}"


def _copy(experience: Experience, chain: list[str]) -> dict[str, str]:
    texts = dict(experience.copy)
    for tag in reversed(chain):
        texts |= experience.locales[tag].copy
    return texts


def _field(experience: Experience, field: FormField, chain: list[str]) -> FunnelField:
    overlays = [one for tag in chain if (one := experience.locales[tag].fields.get(field.name)) is not None]
    labels = next((one.options for one in overlays if one.options is not None), field.options)
    return FunnelField(
        name=field.name,
        type=field.type,
        label=_first(overlays, "label") or field.label,
        help=_first(overlays, "help") or field.help,
        required=field.required,
        max=field.most,
        options=[FunnelOption(value, label) for value, label in zip(field.options, labels, strict=True)],
    )


def _first(overlays: list[FieldOverlay], name: str) -> str | None:
    return next((text for one in overlays if (text := getattr(one, name)) is not None), None)


def _theme(experience: Experience, look: Mapping[str, str]) -> dict[str, str]:
    """Its own tokens on the instance's look; where the two together cannot be read, as they were accepted, on our own values."""
    own = require_well_formed(experience.theme)
    return resolve(dict(look), own, {**resolve({}), **own})
