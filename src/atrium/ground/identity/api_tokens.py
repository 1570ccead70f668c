"""API tokens: issuing, listing and revoking them, and what a revoked one gave."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

from atrium.ground.audit import service as audit
from atrium.ground.identity import credential_rows, sessions, store
from atrium.ground.identity.credential_model import (
    Given,
    IssuedToken,
    Token,
    TokenMissing,
    TokenTerms,
)
from atrium.ground.identity.role_changes import narrowed_scope, token_of
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context, Operation

MOST_GIVEN = 200


async def issue_token(ctx: Context, name: str, scope: list[str] | None, ttl: int | Literal["never"]) -> IssuedToken:
    """An API token with at most the permissions of the credential that asks for it."""
    narrowed = narrowed_scope(ctx.who, scope)
    lifetime = None if ttl == "never" else timedelta(seconds=ttl)
    terms = TokenTerms(kind="token", name=name, scope=narrowed, lifetime=lifetime)
    issued = await sessions.issue(ctx, ctx.who.user_id, ctx.who.team_id, ctx.who.org_id, terms)
    await audit.record(ctx, "identity.token_issued", issued.id, name=name, scope=narrowed, **await token_of(ctx))
    token = await _read_token(ctx, issued.id)
    return IssuedToken(issued.id, issued.token, name, token.scope, token.created_at, token.expires_at)


async def list_tokens(ctx: Context, limit: int, cursor: str | None) -> Page[Token]:
    """The team's API tokens, newest first."""
    pager = Pager(ctx.services.keys, "tokens", ctx.who.team_id)
    found = await credential_rows.list_tokens(
        ctx.db, ctx.who.org_id, ctx.who.team_id, pager.read(cursor, UUID), limit + 1
    )
    return pager.page(found, limit, lambda token: token.id)


async def revoke_token(op: Operation, id: UUID) -> list[Given]:
    """End an API token of the team; the next request with it is refused, and what it does right now is not kept.

    Returned is what it gave while it worked, which stays: the newest first, and no more than `MOST_GIVEN`.
    """
    async with op.begin() as ctx:
        token = await _read_token(ctx, id)
    async with op.begin(ending=(token.user_id,)) as ctx:
        if not await credential_rows.delete_token(ctx.db, ctx.who.org_id, ctx.who.team_id, id):
            raise TokenMissing("this token was revoked a moment ago")
        await credential_rows.tell_ended(ctx.db)
        await audit.record(ctx, "identity.token_revoked", id, name=token.name)
        return await _given_by(ctx, id)


async def _given_by(ctx: Context, token_id: UUID) -> list[Given]:
    events = await audit.list_by_token(ctx, token_id, MOST_GIVEN)
    ids = [UUID(event.subject) for event in events]
    people = await store.list_names(ctx.db, ctx.who.org_id, ids) if ids else {}
    return [Given.of(event, people.get(UUID(event.subject))) for event in events]


async def _read_token(ctx: Context, id: UUID) -> Token:
    token = await credential_rows.find_token(ctx.db, ctx.who.org_id, ctx.who.team_id, id)
    if token is None:
        raise TokenMissing("there is no such token in your team")
    return token
