"""Sign-ins at the same moment with one code, through two servers: a code opens one door, once."""

import asyncio
import time
from dataclasses import dataclass

import httpx
import pyotp
import pytest

from tests.processes.races.conftest import Pair, statuses
from tests.support.processes import FIRST_RUN, holding, rounds, sized, until_queued

MANY, AT_ONCE = sized(12, 50), sized(8, 20)
pytestmark = pytest.mark.timeout(1800)
USER_ROWS = "SELECT FROM users FOR UPDATE"
CODE_ROWS = "SELECT FROM recovery_codes FOR UPDATE"


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The operator with a second factor."""

    secret: str
    recovery_codes: list[str]

    def code(self, steps: int = 0) -> str:
        """The one-time code of the current half minute, or of one around it."""
        return pyotp.TOTP(self.secret).at(int(time.time()), steps)


async def enrolled(pair: Pair) -> Enrolled:
    token = await pair.founded()
    async with pair.servers[0].client(token) as client:
        answer = await client.post("/api/2fa/enable", json={})
    assert answer.status_code == 200, answer.text
    return Enrolled(answer.json()["secret"], answer.json()["recovery_codes"])


async def sign_in(client: httpx.AsyncClient, code: str | None) -> httpx.Response:
    known = {"username": FIRST_RUN["username"], "password": FIRST_RUN["password"]}
    return await client.post("/api/login", json=known | ({"code": code} if code else {}))


async def sign_ins(pair: Pair, code: str, rows: str) -> list[httpx.Response]:
    """Many sign-ins with one code; none may spend it before AT_ONCE of them have it in hand."""
    async with pair.servers[0].client() as one, pair.servers[1].client() as other:
        async with holding(pair.url, rows):
            sent = [asyncio.create_task(sign_in((one, other)[n % 2], code)) for n in range(MANY)]
            await until_queued(pair.url, AT_ONCE)
        return await asyncio.gather(*sent)


async def test_of_fifty_sign_ins_with_one_recovery_code_one_is_admitted(pair: Pair) -> None:
    for _ in rounds(1, 40):
        person = await enrolled(pair)

        answers = await sign_ins(pair, person.recovery_codes[0], CODE_ROWS)

        assert statuses(answers) == [200] + [401] * (MANY - 1)
        assert {answer.json()["code"] for answer in answers if answer.status_code == 401} == {"identity.code_refused"}
        assert await pair.count("SELECT count(*) FROM recovery_codes WHERE used_at IS NOT NULL") == 1
        assert await pair.count("SELECT count(*) FROM audit_events WHERE kind = 'identity.signed_in'") == 1


async def test_of_fifty_sign_ins_with_one_totp_code_one_is_admitted(pair: Pair) -> None:
    for _ in rounds(1, 40):
        person = await enrolled(pair)

        answers = await sign_ins(pair, person.code(), USER_ROWS)

        assert statuses(answers) == [200] + [401] * (MANY - 1)
        # One session more than the first run gave.
        assert await pair.count("SELECT count(*) FROM tokens WHERE kind = 'session'") == 2


async def test_a_totp_code_is_worth_nothing_the_second_time_on_either_server(pair: Pair) -> None:
    person = await enrolled(pair)
    code = person.code()

    async with pair.servers[0].client() as here, pair.servers[1].client() as there:
        first = await sign_in(here, code)
        again = [await sign_in(here, code), await sign_in(there, code)]

    assert first.status_code == 200
    assert [(answer.status_code, answer.json()["code"]) for answer in again] == [(401, "identity.code_refused")] * 2


async def test_a_code_older_than_one_that_was_used_is_refused(pair: Pair) -> None:
    person = await enrolled(pair)
    older = person.code(-1)

    async with pair.servers[0].client() as client:
        newer = await sign_in(client, person.code(1))
        answer = await sign_in(client, older)

    assert newer.status_code == 200
    assert answer.status_code == 401


async def test_a_code_that_was_not_spent_still_opens(pair: Pair) -> None:
    person = await enrolled(pair)

    async with pair.servers[0].client() as client:
        without = await sign_in(client, None)
        answer = await sign_in(client, person.code())

    assert (without.status_code, without.json()["code"]) == (401, "identity.totp_required")
    assert answer.status_code == 200
