"""Signing up: a stranger's answers, held against the form their challenge names, kept once with the proof that paid for them."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.ground.limits import service as limits
from atrium.ground.tenancy.model import CompanyDraft
from atrium.kit.errors import AppError, Suspended
from atrium.kit.ids import new_id
from atrium.kit.text.languages import is_tag
from atrium.product.onboarding import answers, gate, proof, prospect_rows
from atrium.product.onboarding.funnel import Funnel, derive_digest, funnel_of
from atrium.product.onboarding.gate import Noticed
from atrium.product.onboarding.model import ProofChallenge, ProofUsed, Received
from atrium.product.onboarding.prospect_rows import NewProspect
from atrium.product.onboarding.service import JUDGE_KIND
from atrium.seams.context import ANONYMOUS, Context, Operation
from atrium.seams.onboarding import Experience

LONGEST_LOCALE = 35


class SentAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-up as it came."""

    fields: dict[str, Any]
    proof: str
    locale: str | None
    honeypot: bool
    elapsed_ms: int | None


async def issue_challenge(op: Operation) -> ProofChallenge:
    """A challenge for the form that is shown now; harder for a network from which many sign up."""
    funnel, settings = funnel_of(op.services), op.services.settings
    await limits.admit_public(op.services.database, "challenge", op.address, settings.rate_challenges)
    owner = await funnel.owner(op)
    secret = await funnel.secret(op, owner.org_id)
    network = derive_digest(secret, "network", proof.network_of(op.address))
    async with op.services.database.begin(owner.org_id) as db:
        version, _ = await funnel.current(op.within(db), owner.org_id)
        lately = await prospect_rows.count_lately(db, owner.org_id, network)
    tries = proof.tries_for(settings.beta_proof_tries, lately)
    challenge = await proof.issue(secret, version, settings.beta_proof_cost, tries)
    funnel.count("started")
    return challenge


async def sign_up(op: Operation, sent: SentAnswers) -> Received:
    """Keep a person once; the reply is the same for everybody whose answers and proof hold."""
    funnel = funnel_of(op.services)
    try:
        await _keep(op, funnel, sent)
    except AppError:
        funnel.count("refused")
        raise
    funnel.count("received")
    return Received()


async def _keep(op: Operation, funnel: Funnel, sent: SentAnswers) -> None:
    owner = await funnel.owner(op)
    secret = await funnel.secret(op, owner.org_id)
    async with op.services.database.begin(owner.org_id) as db:
        ctx = op.within(db)
        payload = proof.find_payload(sent.proof)
        version, form = await _form(ctx, funnel, owner.org_id, payload)
        # Before the proof is looked at: a mistake in the form never costs it.
        given = answers.require_good(form, sent.fields)
        shown = proof.require_sound(secret, payload)
        new = _prospect(op, secret, version, form, given, shown, sent)
        kept = await prospect_rows.keep_prospect(db, owner.org_id, new)
        if kept is None:
            if await prospect_rows.is_suspended(db, owner.org_id):
                raise Suspended(
                    "sign-ups are closed while this workspace is suspended; your proof was not spent, try again later"
                )
            raise ProofUsed(
                "this proof was spent on an earlier sign-up; ask for a new challenge: GET /api/beta/challenge"
            )
        if form.judge_prompt.strip():
            await _queue_judge(ctx, owner, kept, again=kept != new.id)


async def _form(ctx: Context, funnel: Funnel, org_id: UUID, payload: proof.Payload | None) -> tuple[int, Experience]:
    """The version that the challenge names, which its signature covers; the current one where it names none that there is."""
    if payload is not None:
        version = payload.challenge.parameters.data.version
        found = await funnel.find(ctx, org_id, version)
        if found is not None:
            return version, found
    return await funnel.current(ctx, org_id)


def _prospect(
    op: Operation,
    secret: bytes,
    version: int,
    form: Experience,
    given: answers.Answers,
    shown: proof.Proof,
    sent: SentAnswers,
) -> NewProspect:
    address = answers.address_in(form, given)
    signals = gate.signals_of(
        Noticed(address=address, honeypot=sent.honeypot, elapsed_ms=sent.elapsed_ms, proof_age=shown.age)
    )
    return NewProspect(
        id=new_id(),
        address=derive_digest(secret, "address", address),
        digest=shown.digest,
        network=derive_digest(secret, "network", proof.network_of(op.address)),
        version=version,
        fields=given,
        words="\n".join(str(value) for value in given.values()).lower(),
        locale=sent.locale if sent.locale and is_tag(sent.locale) else "",
        signals=msgspec.to_builtins(signals),
        gate=gate.verdict_of(signals),
    )


async def _queue_judge(ctx: Context, owner: CompanyDraft, id: UUID, *, again: bool) -> None:
    """In the sign-up's transaction, as the operator and paid by the first team.

    A job is queued for known people as well, and does nothing: without it their reply would come sooner than the others'.
    """
    who = msgspec.structs.replace(ANONYMOUS, user_id=owner.operator_id, team_id=owner.team_id, org_id=owner.org_id)
    await jobs.enqueue(ctx.acting_as(who), JUDGE_KIND, [{"prospect": str(id), "again": again}])
