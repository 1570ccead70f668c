"""The verbs of experiences: read, save, publish, show."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.tenancy import service as tenancy
from atrium.kit.ids import new_id
from atrium.kit.text import catalogs
from atrium.kit.web.etags import etag_of, require_current
from atrium.product.branding import service as branding
from atrium.product.onboarding import answers, asset_rows, experience, store
from atrium.product.onboarding.funnel import SEEDED, Funnel, funnel_of
from atrium.product.onboarding.model import (
    BadExperience,
    FunnelConfig,
    FunnelExperience,
    FunnelMissing,
    FunnelPublication,
    JudgeTrial,
    NoDraft,
)
from atrium.seams.context import Context, Operation
from atrium.seams.onboarding import Experience

JUDGE_KIND = "onboarding.judge"


async def require_owner(ctx: Context) -> UUID:
    """The company of the funnel, for who manages its first team; to every other team there is nothing here."""
    access.require(ctx, "settings:manage")
    founding = (await tenancy.read_instance(ctx)).founding
    if founding is None or founding.team_id != ctx.who.team_id:
        raise FunnelMissing("the sign-up form belongs to another team")
    return founding.org_id


async def read_experience(ctx: Context, version: int | None) -> FunnelExperience:
    """The draft, a published version, or what is shown while there is neither."""
    org_id = await require_owner(ctx)
    if version is not None:
        row = await store.find_version(ctx.db, org_id, version)
        if row is None:
            raise FunnelMissing(f"there is no version {version}")
        return await _editable(ctx, org_id, "version", row.document, f"v{row.version}")
    draft = await store.find_draft(ctx.db, org_id)
    if draft is not None:
        return await _editable(ctx, org_id, "draft", draft.document, draft.revision.hex)
    document = await _shown_document(ctx, org_id)
    return await _editable(ctx, org_id, "seeded", document, etag_of(document).strip('"'))


async def save_draft(ctx: Context, document: dict[str, Any], if_match: str | None) -> FunnelExperience:
    """Replace the draft whole; visitors see nothing of it before it is published."""
    org_id = await require_owner(ctx)
    await store.lock_drafts(ctx.db, org_id)
    if if_match is not None:
        require_current(if_match, (await read_experience(ctx, None)).etag())
    found = _judged(document)
    await _require_assets(ctx, org_id, found)
    revision = new_id()
    await store.put_draft(ctx.db, org_id, ctx.who.user_id, revision, experience.document_of(found))
    await audit.record(ctx, "onboarding.saved", org_id, fields=len(found.fields))
    return await read_experience(ctx, None)


async def try_judge(ctx: Context, document: dict[str, Any], given: dict[str, Any]) -> JudgeTrial:
    """Judge made-up answers by an experience that is not stored."""
    await require_owner(ctx)
    found = _judged(document)
    if not found.judge_prompt.strip():
        raise BadExperience("write a judge_prompt first: there is nothing to judge by", errors=[_fault("judge_prompt")])
    checked = answers.require_good(found, given)
    trial = {"prompt": found.judge_prompt, "answers": checked}
    [job] = await jobs.enqueue(ctx, JUDGE_KIND, [trial])
    return JudgeTrial(job)


async def publish(ctx: Context) -> FunnelPublication:
    """Make the saved draft what visitors see, as a version that is kept."""
    org_id = await require_owner(ctx)
    await store.lock_drafts(ctx.db, org_id)
    draft = await store.find_draft(ctx.db, org_id)
    if draft is None:
        raise NoDraft("save a draft first: PUT /api/beta/experience")
    # Files may have gone since it was saved, and rules may have changed since.
    await _require_assets(ctx, org_id, _judged(draft.document))
    version, at = await store.insert_version(ctx.db, org_id, ctx.who.user_id, draft.document)
    await audit.record(ctx, "onboarding.published", org_id, version=version)
    return FunnelPublication(version, at)


async def read_config(op: Operation, locale: str | None, accept_language: str | None) -> FunnelConfig:
    """What a visitor is shown, in the language they name, else the one their browser asks for."""
    funnel = funnel_of(op.services)
    config = await config_in(op, funnel, locale, accept_language)
    funnel.count("opened")
    return config


async def config_in(op: Operation, funnel: Funnel, locale: str | None, accept_language: str | None) -> FunnelConfig:
    """The same, without counting a visitor."""
    version, found, default = await _current(op, funnel)
    wanted = locale or catalogs.choose_locale(accept_language, [*found.locales, default], default)
    return experience.public_config(found, version, wanted, default, await _look(op))


async def read_draft_config(op: Operation, locale: str | None) -> tuple[Experience, FunnelConfig]:
    """The draft, and what a visitor would be shown of it; for its editors."""
    async with op.begin() as ctx:
        document = (await read_experience(ctx, None)).experience
        default = (await tenancy.read_instance(ctx)).localization.default_locale
    if not document:
        raise FunnelMissing("there is no sign-up form here yet")
    found = _judged(document)
    return found, experience.public_config(found, SEEDED, locale or default, default, await _look(op))


async def read_current(op: Operation) -> tuple[int, Experience]:
    """What visitors see, whole, with its number."""
    version, found, _ = await _current(op, funnel_of(op.services))
    return version, found


async def _look(op: Operation) -> Mapping[str, str]:
    # The form looks the same to everybody; with a session it would be the look of the person's own company.
    anybody = msgspec.structs.replace(op, session=b"")
    return (await branding.read_branding(anybody, None, None)).theme


async def _current(op: Operation, funnel: Funnel) -> tuple[int, Experience, str]:
    owner = await funnel.owner(op)
    async with op.services.database.begin(owner.org_id) as db:
        ctx = op.within(db)
        default = (await tenancy.read_instance(ctx)).localization.default_locale
        return *(await funnel.current(ctx, owner.org_id)), default


async def _shown_document(ctx: Context, org_id: UUID) -> dict[str, Any]:
    row = await store.find_version(ctx.db, org_id, None)
    if row is not None:
        return row.document
    seed = funnel_of(ctx.services).seed
    return {} if seed is None else experience.document_of(seed)


async def _editable(
    ctx: Context, org_id: UUID, state: Any, document: dict[str, Any], revision: str
) -> FunnelExperience:
    versions = await store.list_versions(ctx.db, org_id)
    return FunnelExperience(
        state=state,
        experience=document,
        revision=revision,
        published=versions[0] if versions else None,
        versions=versions,
    )


def _judged(document: dict[str, Any]) -> Experience:
    try:
        return experience.read(document)
    except (ValueError, TypeError) as error:
        path, message = _placed(error)
        raise BadExperience(f"{path}: {message}", errors=[{"path": path, "message": message}]) from error


def _placed(error: Exception) -> tuple[str, str]:
    message, _, place = str(error).partition(" - at `$")
    return "experience" + place.rstrip("`"), message


def _fault(path: str) -> dict[str, str]:
    return {"path": f"experience.{path}", "message": "missing"}


async def _require_assets(ctx: Context, org_id: UUID, found: Experience) -> None:
    kinds = await asset_rows.list_kinds(ctx.db, org_id, list(found.assets.values()))
    wrong = [kind for kind, id in found.assets.items() if kinds.get(id) != kind]
    if wrong:
        errors = [{"path": f"experience.assets.{kind}", "message": f"there is no {kind} of this id"} for kind in wrong]
        raise BadExperience("upload these files first: " + ", ".join(wrong), errors=errors)
