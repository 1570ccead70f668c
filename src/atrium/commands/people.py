"""`atrium users reset`: a password reset from the command line, for when no administrator can sign in."""

import sys

from atrium.boot.requirements import open_database
from atrium.ground.identity import resets
from atrium.seams.settings import Settings


async def print_reset_link(settings: Settings, username: str, url: str | None) -> int:
    """Print a password reset link; 1 when the user does not exist."""
    base_url = url or settings.base_url or "http://127.0.0.1:8080"
    async with open_database(settings) as database:
        link = await resets.offer_reset_here(database, username, base_url)
    if link is None:
        print(f"this instance has no user {username}", file=sys.stderr)
        return 1
    print(link.url)
    print(f"works once, until {link.expires_at:%Y-%m-%d %H:%M} UTC", file=sys.stderr)
    return 0
