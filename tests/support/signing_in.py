"""What tests about people and credentials share: signing in, and moving a credential's clock."""

from dataclasses import replace

from atrium.boot.assemble import Application
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company

PASSWORD = "correct horse battery staple"
COOKIE_WANTED = {"atrium-session": "cookie"}
DIGEST = "digest = sha256(convert_to($1, 'UTF8'))"
_hashed: list[str] = []


async def log_in(client: Client, password: str = PASSWORD, **fields: str) -> Answer:
    """Knock as this person; whatever comes back."""
    return await client.post("/api/login", {"username": client.username, "password": password, **fields})


async def signed_in(client: Client, **fields: str) -> Client:
    """One more session of the same person."""
    answer = await log_in(client, **fields)
    assert answer.status == 200, answer.raw
    return with_token(client, answer["token"])


async def in_browser(client: Client, **fields: str) -> Client:
    """The same person signed in with a browser, which keeps the session in a cookie."""
    entry = with_token(client, None)
    answer = await entry.post(
        "/api/login", {"username": client.username, "password": PASSWORD, **fields}, headers=COOKIE_WANTED
    )
    assert answer.status == 200, answer.raw
    return with_cookie(client, answer)


def with_cookie(client: Client, answer: Answer) -> Client:
    """The same person with the cookie that this reply set."""
    return replace(client, token=None, cookie=answer.headers["set-cookie"].partition(";")[0])


def with_token(client: Client, token: str | None) -> Client:
    """The same person with another credential."""
    return replace(client, token=token, cookie="")


async def person(company: Company, role: str = "member") -> Client:
    """Somebody with a password; it is hashed once for everybody."""
    if not _hashed:
        _hashed.append(await company.house.services.passwords.hash(PASSWORD))
    client = await company.join(role)
    await in_sql(company.house, "UPDATE users SET password_hash = $2 WHERE id = $1::uuid", client.user_id, _hashed[0])
    return client


async def in_sql(house: Application, sql: str, *values: object) -> list[list[object]]:
    """One statement as the owner of the database."""
    rows = await run_as_owner(house.services.settings.database_url, sql, *values)
    return [list(row.values()) for row in rows]


async def age(client: Client, interval: str) -> None:
    """Let a credential be this much older than it is: made, signed in, last used and ending earlier."""
    await run_as_owner(
        client.app._services.settings.database_url,
        f"""
        UPDATE tokens SET created_at = created_at - $2::text::interval, signed_in_at = signed_in_at - $2::text::interval,
               last_used_at = last_used_at - $2::text::interval, expires_at = expires_at - $2::text::interval WHERE {DIGEST}
        """,
        client.token,
        interval,
    )


async def use_just_now(client: Client) -> None:
    """Let a credential have been used a moment ago."""
    await run_as_owner(
        client.app._services.settings.database_url,
        f"UPDATE tokens SET last_used_at = now() WHERE {DIGEST}",
        client.token,
    )
