"""The wire of audit."""

from atrium.ground.audit import service
from atrium.ground.audit.model import AuditEvent
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.seams.context import Context


async def list_company_events(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[AuditEvent]:
    """The company's audit trail, newest first."""
    return await service.list_company_events(ctx, limit, cursor)


async def list_team_events(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[AuditEvent]:
    """The team's audit events, newest first."""
    return await service.list_team_events(ctx, limit, cursor)
