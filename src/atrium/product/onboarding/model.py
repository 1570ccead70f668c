"""The nouns of onboarding."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Conflict, Invalid, Missing, TooLarge
from atrium.kit.web.etags import etag_of
from atrium.seams.onboarding import AssetKind, FieldType

ProspectState = Literal["captured", "accepted", "declined"]
Decision = Literal["accept", "decline"]
GateVerdict = Literal["pass", "suspect"]
JudgeVerdict = Literal["promising", "unsure", "unfit"]
Note = Annotated[str, msgspec.Meta(max_length=2000)]
# What a decision makes of a prospect.
OUTCOMES: dict[Decision, ProspectState] = {"accept": "accepted", "decline": "declined"}


class Author(msgspec.Struct, frozen=True):
    """Who did it; both are null once the account is gone."""

    id: UUID | None
    username: str | None


class PublishedVersion(msgspec.Struct, frozen=True):
    """A version that was or is shown to visitors."""

    version: int
    at: datetime
    by: Author


class FunnelExperience(msgspec.Struct, frozen=True, kw_only=True):
    """An experience as its editors get it: the draft, an older version, or (`seeded`) what is shown while there is no draft."""

    state: Literal["draft", "seeded", "version"]
    experience: dict[str, Any]
    revision: str
    published: PublishedVersion | None
    versions: list[PublishedVersion]

    def etag(self) -> str:
        """Differs after every save."""
        return f'"{self.revision}"'


class FunnelPublication(msgspec.Struct, frozen=True):
    """What visitors see from now on."""

    version: int
    published_at: datetime


class JudgeTrial(msgspec.Struct, frozen=True):
    """The job that judges made-up answers; its result is the verdict."""

    job: UUID


class FunnelOption(msgspec.Struct, frozen=True):
    """What to send when it is chosen, and what to show."""

    value: str
    label: str


class FunnelField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of the form, in the visitor's language."""

    name: str
    type: FieldType
    label: str
    help: str
    required: bool
    max: int
    options: list[FunnelOption]


class FunnelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The public part of an experience, in one language."""

    locale: str
    version: int
    fields: list[FunnelField]
    copy: dict[str, str]
    theme: dict[str, str]
    assets: dict[str, str]

    def etag(self) -> str:
        """Differs when a visitor would see something else."""
        return etag_of(msgspec.to_builtins(self))


class FunnelAsset(msgspec.Struct, frozen=True, kw_only=True):
    """A picture or a font of the form; anybody may fetch it at its URL."""

    id: UUID
    kind: AssetKind
    filename: str
    content_type: str
    size: int
    sha256: str
    width: int | None
    height: int | None
    created_at: datetime
    url: str


class Signal(msgspec.Struct, frozen=True):
    """Something that the gate noticed about a sign-up; it refuses for none of these."""

    name: Literal["honeypot", "fast", "disposable_domain", "address_burst", "repeated", "late_proof"]
    value: int | str


class ProspectVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate or the judge says; without a verdict, `reasons` tell why there is none."""

    by: Literal["gate", "judge"]
    verdict: GateVerdict | JudgeVerdict | None
    score: int | None
    reasons: list[str]
    model: str | None
    at: datetime


class DecisionMade(msgspec.Struct, frozen=True):
    """Who decided what about a prospect."""

    decision: Decision
    by: Author
    at: datetime
    note: str | None


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """A person who signed up; `later` are answers that they sent again."""

    id: UUID
    fields: dict[str, Any]
    later: list[dict[str, Any]]
    locale: str
    state: ProspectState
    signals: list[Signal]
    verdicts: list[ProspectVerdict]
    submissions: int
    created_at: datetime
    decided: DecisionMade | None


class FunnelDay(msgspec.Struct, frozen=True):
    """How many visitors came how far on one day (UTC)."""

    day: date
    opened: int
    started: int
    refused: int
    received: int


class ProspectListing(msgspec.Struct, frozen=True):
    """Prospects, newest first, and how many visitors came how far in the last 30 days."""

    items: list[Prospect]
    funnel: list[FunnelDay]
    next_cursor: str | None = None


class ChallengeParameters(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to derive, as ALTCHA (version 2) names it."""

    algorithm: str
    cost: int
    key_length: int
    key_prefix: str
    nonce: str
    salt: str
    key_signature: str
    expires_at: int
    data: dict[str, Any]


class ProofChallenge(msgspec.Struct, frozen=True):
    """A challenge of ALTCHA's version 2; every client of it solves this one."""

    parameters: ChallengeParameters
    signature: str


class Received(msgspec.Struct, frozen=True):
    """The same for everybody: it never tells whether an address is known."""

    status: Literal["received"] = "received"


class FunnelMissing(Missing):
    """The funnel belongs to the instance's first team, and nothing of it is shown to others."""

    code = "onboarding.missing"
    title = "Nothing here"


class BadExperience(Invalid):
    """The experience breaks a rule; `errors` has the paths."""

    code = "onboarding.bad_experience"
    title = "This experience cannot be used"


class NoDraft(Conflict):
    """There is no saved draft to publish."""

    code = "onboarding.no_draft"
    title = "Nothing to publish"


class BadAsset(Invalid):
    """Not a picture or font that is taken."""

    code = "onboarding.bad_asset"
    title = "This file cannot be used"


class AssetTooLarge(TooLarge):
    """The file has too many bytes."""

    code = "onboarding.asset_too_large"
    title = "This file is too large"


class TooManyAssets(Conflict):
    """There are as many files as a funnel may have."""

    code = "onboarding.too_many_assets"
    title = "Too many files"


class AssetInUse(Conflict):
    """The published experience shows this file."""

    code = "onboarding.asset_in_use"
    title = "This file is shown to visitors"


class BadAnswers(Invalid):
    """Answers that the form does not take; `errors` has the paths."""

    code = "onboarding.bad_answers"
    title = "Please correct the form"


class ProofBad(Invalid):
    """The proof of work does not hold."""

    code = "onboarding.proof_bad"
    title = "The proof does not hold"


class ProofExpired(Invalid):
    """The challenge is too old."""

    code = "onboarding.proof_expired"
    title = "The proof is too old"


class ProofUsed(Conflict):
    """This proof has been spent on a sign-up."""

    code = "onboarding.proof_used"
    title = "The proof was used"


class ProspectMissing(Missing):
    """No such prospect."""

    code = "onboarding.prospect_missing"
    title = "No such prospect"


class Decided(Conflict):
    """The other decision was made about this prospect."""

    code = "onboarding.decided"
    title = "Decided otherwise"
