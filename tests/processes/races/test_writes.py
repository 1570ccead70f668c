"""The same write from many sides at once, through two servers: it happens once."""

import asyncio
import time

import httpx

from tests.processes.races.conftest import Pair, statuses
from tests.support.patience import PATIENCE
from tests.support.processes import holding, rounds, until_queued

MANY = 20


async def test_twenty_posts_with_one_idempotency_key_create_one_note(pair: Pair) -> None:
    token = await pair.founded()
    async with pair.servers[0].client(token) as one, pair.servers[1].client(token) as other:
        for number in rounds(3, 40):
            once = {"idempotency-key": f"round-{number}"}
            async with holding(pair.url, "LOCK TABLE notes IN SHARE MODE"):
                posts = [
                    (one, other)[n % 2].post("/api/notes", json={"title": str(number)}, headers=once)
                    for n in range(MANY)
                ]
                sent = [asyncio.create_task(post) for post in posts]
                await until_queued(pair.url, MANY)
            answers = await asyncio.gather(*sent)

            assert statuses(answers) == [201] * MANY
            assert len({answer.content for answer in answers}) == 1
            assert sum("idempotent-replay" not in answer.headers for answer in answers) == 1
            assert await pair.count("SELECT count(*) FROM notes") == number + 1
            created = "SELECT count(*) FROM audit_events WHERE kind = 'notes.created'"
            assert await pair.count(created) == number + 1


async def test_of_those_who_add_one_username_one_succeeds_and_the_others_leave_nothing(pair: Pair) -> None:
    token = await pair.founded()
    async with pair.servers[0].client(token) as one, pair.servers[1].client(token) as other:
        for number in rounds(3, 40):
            async with holding(pair.url, "LOCK TABLE users IN SHARE MODE"):
                asked = [
                    (one, other)[n % 2].post("/api/members", json={"username": spelling, "role": "member"})
                    for n, spelling in enumerate([f"grace{number}", f"Grace{number}", f"GRACE{number}"] * 2)
                ]
                sent = [asyncio.create_task(ask) for ask in asked]
                await until_queued(pair.url, len(asked))
            answers = await asyncio.gather(*sent)

            assert statuses(answers) == [201] + [409] * (len(asked) - 1)
            assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {
                "identity.username_taken"
            }
            # The operator, and one a round: neither a user, nor a first session, nor an event of a loser.
            assert await pair.count("SELECT count(*) FROM users") == number + 2
            assert await pair.count("SELECT count(*) FROM tokens WHERE kind = 'first'") == number + 1
            added = "SELECT count(*) FROM audit_events WHERE kind = 'identity.member_added'"
            assert await pair.count(added) == number + 1


async def issue_token(client: httpx.AsyncClient) -> tuple[str, str]:
    answer = await client.post("/api/tokens", json={"name": "machine"})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"], answer.json()["token"]


async def test_of_those_who_revoke_one_token_one_did_it(pair: Pair) -> None:
    token = await pair.founded()
    async with pair.servers[0].client(token) as one, pair.servers[1].client(token) as other:
        for number in rounds(3, 40):
            id, _ = await issue_token(one)
            async with holding(pair.url, "SELECT FROM tokens WHERE id = $1::text::uuid FOR UPDATE", id):
                sent = [asyncio.create_task((one, other)[n % 2].delete(f"/api/tokens/{id}")) for n in range(10)]
                await until_queued(pair.url, len(sent))
            answers = await asyncio.gather(*sent)

            assert statuses(answers) == [200] + [404] * 9
            revoked = "SELECT count(*) FROM audit_events WHERE kind = 'identity.token_revoked'"
            assert await pair.count(revoked) == number + 1


async def use_until_refused(client: httpx.AsyncClient, uses: list[tuple[float, int]]) -> None:
    """Use a token over and over; when each use began and how it ended."""
    while not uses or uses[-1][1] == 200:
        began = time.monotonic()
        answer = await client.get("/api/whoami")
        uses.append((began, answer.status_code))


async def test_a_revoked_token_admits_nobody_who_comes_after_the_reply(pair: Pair) -> None:
    token = await pair.founded()
    async with pair.servers[0].client(token) as operator:
        for _ in rounds(3, 40):
            id, machine = await issue_token(operator)
            async with pair.servers[0].client(machine) as one, pair.servers[1].client(machine) as other:
                uses: list[list[tuple[float, int]]] = [[] for _ in range(8)]
                users = [
                    asyncio.create_task(use_until_refused((one, other)[n % 2], mine)) for n, mine in enumerate(uses)
                ]
                while min(map(len, uses)) < 5:
                    await asyncio.sleep(0)
                revoked = await operator.delete(f"/api/tokens/{id}")
                acknowledged = time.monotonic()
                await asyncio.wait_for(asyncio.gather(*users), PATIENCE)

            assert revoked.status_code == 200
            seen = [use for mine in uses for use in mine]
            assert {status for _, status in seen} == {200, 401}
            assert {status for began, status in seen if began > acknowledged} <= {401}
