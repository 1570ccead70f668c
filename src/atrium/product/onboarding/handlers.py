"""The wire of onboarding."""

from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.kit.text.languages import LanguageTag
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.onboarding import assets, prospects, service, signup
from atrium.product.onboarding.assets import BODY_LIMIT
from atrium.product.onboarding.model import (
    BadExperience,
    FunnelAsset,
    FunnelConfig,
    FunnelExperience,
    FunnelPublication,
    JudgeTrial,
    ProofChallenge,
    ProspectListing,
    ProspectState,
    Received,
)
from atrium.product.onboarding.signup import SentAnswers
from atrium.seams.context import Context, Operation
from atrium.seams.onboarding import AssetKind
from atrium.seams.routes import Accepted, AcceptLanguage, Content, Created, IfMatch

FOREVER = "public, max-age=31536000, immutable"
ASSET_POLICY = "default-src 'none'; sandbox"
Language = Annotated[
    LanguageTag, msgspec.Meta(description="The visitor's language; what their browser asks for when absent.")
]
VersionNumber = Annotated[
    int, msgspec.Meta(ge=1, le=1_000_000_000, description="The number of a published version; absent for the draft.")
]
TrialRun = Annotated[bool, msgspec.Meta(description="Store nothing; judge the made-up `answers` in a job.")]
VerdictName = Annotated[
    Literal["pass", "suspect", "promising", "unsure", "unfit"],
    msgspec.Meta(description="Only prospects about whom the gate or the judge says this."),
]
Search = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


async def read_config(
    op: Operation, *, locale: Language | None = None, accept_language: AcceptLanguage | None = None
) -> FunnelConfig:
    """The published sign-up form in one language: fields, copy, look and files."""
    return await service.read_config(op, locale, accept_language)


async def preflight_signup(op: Operation) -> None:
    """What browsers ask before a page of another origin signs up."""


async def preflight_config(op: Operation) -> None:
    """What browsers ask before a page of another origin reads the form."""


async def preflight_challenge(op: Operation) -> None:
    """What browsers ask before a page of another origin gets a challenge."""


async def read_experience(ctx: Context, *, version: VersionNumber | None = None) -> FunnelExperience:
    """The draft of the sign-up form with what the judge is told, or a published version of it."""
    return await service.read_experience(ctx, version)


class ExperienceDraft(msgspec.Struct, forbid_unknown_fields=True):
    """The experience as a whole; `answers` only with `dry_run`."""

    __example__ = {
        "experience": {
            "fields": [{"name": "email", "type": "email", "label": "Your e-mail address", "required": True}],
            "copy": {"title": "Be among the first"},
        }
    }

    experience: dict[str, Any]
    answers: dict[str, Any] | None = None


async def save_experience(
    ctx: Context, body: ExperienceDraft, *, dry_run: TrialRun = False, if_match: IfMatch | None = None
) -> FunnelExperience | Accepted[JudgeTrial]:
    """Save the draft of the sign-up form; visitors see it once it is published."""
    if dry_run:
        return Accepted(await service.try_judge(ctx, body.experience, body.answers or {}))
    if body.answers is not None:
        raise BadExperience(
            "answers are judged with ?dry_run=1 alone", errors=[{"path": "answers", "message": "unknown"}]
        )
    return await service.save_draft(ctx, body.experience, if_match)


async def publish_experience(ctx: Context) -> FunnelPublication:
    """Publish the saved draft: visitors see it from now on, and the version is kept."""
    return await service.publish(ctx)


class FunnelUpload(msgspec.Struct, forbid_unknown_fields=True):
    """A picture (PNG, JPEG, WebP) or a font (WOFF2) of at most 2 MiB: base64, or a data: URI."""

    __body_limit__: ClassVar[int] = BODY_LIMIT
    __example__ = {
        "kind": "logo",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    }

    kind: AssetKind
    data: str
    filename: Annotated[str, msgspec.Meta(max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$(?!\n)")] = ""


async def upload_asset(op: Operation, body: FunnelUpload) -> Created[FunnelAsset]:
    """Upload a picture, which is drawn anew, or a font for the sign-up form."""
    return Created(await assets.create_asset(op, body.kind, body.filename, body.data))


async def list_assets(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[FunnelAsset]:
    """The sign-up form's pictures and fonts, newest first."""
    return await assets.list_assets(ctx, limit, cursor)


async def serve_asset(op: Operation, id: UUID) -> Content:
    """A picture or font of the sign-up form; its bytes never change."""
    asset, body = await assets.read_asset(op, id)
    return Content(body, asset.content_type, ASSET_POLICY, cache=FOREVER, shared=True)


async def delete_asset(ctx: Context, id: UUID) -> FunnelAsset:
    """Delete a picture or font that the published form does not show."""
    return await assets.delete_asset(ctx, id)


async def issue_challenge(op: Operation) -> ProofChallenge:
    """A proof-of-work challenge (ALTCHA, version 2) to solve before signing up; it holds for ten minutes."""
    return await signup.issue_challenge(op)


class SignUp(msgspec.Struct, forbid_unknown_fields=True):
    """The form's answers and the solved challenge: base64 of ALTCHA's payload. `hp` stays empty; `elapsed_ms` is how long it took."""

    __example__ = {"fields": {"email": "ada@example.com"}, "proof": "the solved challenge as base64"}

    fields: dict[str, Any]
    proof: Annotated[str, msgspec.Meta(max_length=8192)]
    locale: Annotated[str, msgspec.Meta(max_length=signup.LONGEST_LOCALE)] | None = None
    hp: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    elapsed_ms: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] | None = None


async def sign_up(op: Operation, body: SignUp) -> Accepted[Received]:
    """Sign up; the reply is the same for everybody, known or not."""
    return Accepted(
        await signup.sign_up(
            op,
            SentAnswers(
                fields=body.fields,
                proof=body.proof,
                locale=body.locale,
                honeypot=bool(body.hp),
                elapsed_ms=body.elapsed_ms,
            ),
        )
    )


async def list_prospects(
    ctx: Context,
    *,
    state: ProspectState | None = None,
    verdict: VerdictName | None = None,
    q: Search | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> ProspectListing:
    """Who signed up, newest first, with signals and verdicts; the first page counts how many visitors came how far."""
    return await prospects.list_prospects(ctx, state, verdict, q, limit, cursor)
