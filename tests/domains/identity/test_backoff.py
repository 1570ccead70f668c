"""Limits over HTTP: backing off after failed sign-ins, how often an address may knock, how often a credential may ask."""

import itertools
from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from atrium.ground.limits.model import key_of
from tests.postgres import fresh_database
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application, open_application, settings_for
from tests.support.signing_in import in_sql, log_in, person, with_token

ALLOWED, WRONG = 5, "not the password"
_addresses = (f"198.18.{high}.{low}" for high, low in itertools.product(range(256), range(256)))


@pytest.fixture(scope="module")
async def strict_house() -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(url, login_failures=ALLOWED, rate_public_writes=1_000_000)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def strict(strict_house: Application) -> Company:
    return await found_company(strict_house)


@pytest.fixture
async def ann(strict: Company) -> Client:
    return from_elsewhere(await person(strict))


def from_elsewhere(client: Client) -> Client:
    """The same person at an address nobody used before."""
    moved = with_token(client, client.token)
    moved.address = next(_addresses)
    return moved


async def fail(client: Client, times: int) -> list[Answer]:
    """Wrong passwords from one address."""
    return [await log_in(client, WRONG) for _ in range(times)]


def account_of(client: Client) -> str:
    """What a wrong password for this person from their address counts against."""
    return f"{client.username}|{client.address}"


async def block(house: Application, client: Client, failures: int = ALLOWED + 4) -> None:
    """Let this many failures have happened, the last one just now."""
    await fail(client, 1)
    await in_sql(
        house,
        "UPDATE login_failures SET failures = $2 WHERE key = $1",
        key_of("account", account_of(client)),
        failures - 1,
    )
    await fail(client, 1)


async def prolong(house: Application, kind: str, subject: str) -> None:
    """Let a wait that has begun last a minute more, so that a slow machine still finds it; begins none."""
    await in_sql(
        house,
        "UPDATE login_failures SET blocked_until = blocked_until + interval '1 minute' WHERE key = $1",
        key_of(kind, subject),
    )


async def lift(house: Application, client: Client) -> None:
    """Let the account's wait here be over, and the address's."""
    await in_sql(
        house,
        "UPDATE login_failures SET blocked_until = now() - interval '1 second' WHERE key = ANY($1)",
        [key_of("account", account_of(client)), key_of("address", client.address)],
    )


async def test_after_five_failures_an_account_backs_off(strict_house: Application, ann: Client) -> None:
    failed = await fail(ann, ALLOWED)
    await prolong(strict_house, "account", account_of(ann))

    refused = await log_in(ann, WRONG)

    assert [answer.status for answer in failed] == [401] * ALLOWED
    assert (refused.status, refused.code) == (429, "identity.login_backoff")
    assert 1 < int(refused.headers["retry-after"]) <= 61


async def test_four_failures_cost_nothing(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann, ALLOWED - 1)
    await prolong(strict_house, "account", account_of(ann))

    assert (await log_in(ann)).status == 200


async def test_the_right_password_waits_too(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann)

    waiting = await log_in(ann)
    await lift(strict_house, ann)

    assert waiting.status == 429
    assert (await log_in(ann)).status == 200


async def test_the_wait_doubles_with_each_failure(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann)
    waits = []

    for _ in range(5):
        waits.append(int((await log_in(ann, WRONG)).headers["retry-after"]))
        await lift(strict_house, ann)
        await fail(ann, 1)

    # What is left of each wait a moment later.
    assert [
        wait for wait, whole in zip(waits, [16, 32, 64, 128, 256], strict=True) if whole / 2 < wait <= whole
    ] == waits


async def test_the_wait_has_a_longest(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann, 1000)

    assert 900 - PATIENCE < int((await log_in(ann)).headers["retry-after"]) <= 900


async def test_knocking_while_waiting_makes_the_wait_no_longer(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann)

    answers = await fail(ann, 10)

    assert {answer.status for answer in answers} == {429}
    assert max(int(answer.headers["retry-after"]) for answer in answers) <= 16


async def test_after_fifteen_minutes_the_count_starts_again(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann)
    await in_sql(
        strict_house,
        "UPDATE login_failures SET since = now() - interval '16 minutes', blocked_until = now() WHERE key = $1",
        key_of("account", account_of(ann)),
    )

    assert [answer.status for answer in await fail(ann, 2)] == [401] * 2
    assert (await log_in(ann)).status == 200


async def test_a_good_sign_in_clears_the_account(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann, ALLOWED - 1)
    assert (await log_in(ann)).status == 200

    await fail(ann, 1)

    assert (await log_in(ann)).status == 200


async def test_a_name_nobody_has_backs_off_alike(strict: Company) -> None:
    ghost = Client(strict.house.app, username=f"ghost-{strict.org.id}")

    await block(strict.house, ghost)

    assert (await log_in(ghost, WRONG)).code == "identity.login_backoff"


async def test_every_spelling_of_a_name_shares_one_count(strict_house: Application, ann: Client) -> None:
    await block(strict_house, ann, ALLOWED - 1)

    await ann.post("/api/login", {"username": ann.username.upper(), "password": WRONG})
    await prolong(strict_house, "account", account_of(ann))

    for username in (ann.username, ann.username.upper(), ann.username.title()):
        answer = await ann.post("/api/login", {"username": username, "password": WRONG})
        assert answer.status == 429


async def test_one_account_backing_off_leaves_the_others(strict: Company, ann: Client) -> None:
    ben = await person(strict)

    await block(strict.house, ann)

    assert (await log_in(from_elsewhere(ben))).status == 200


async def guess_at_others(house: Application, guesser: Client, failures: int) -> None:
    """Let this many failures at various accounts have come from one address, the last one just now."""
    await guesser.post("/api/login", {"username": "somebody", "password": WRONG})
    await in_sql(
        house,
        "UPDATE login_failures SET failures = $2 WHERE key = $1",
        key_of("address", guesser.address),
        failures - 1,
    )
    await guesser.post("/api/login", {"username": "somebody-else", "password": WRONG})


async def test_an_address_that_guesses_at_many_accounts_backs_off(strict_house: Application, ann: Client) -> None:
    guesser = from_elsewhere(ann)
    for n in range(ALLOWED):
        await guesser.post("/api/login", {"username": f"guess-{n}", "password": WRONG})
    await prolong(strict_house, "address", guesser.address)

    refused = await log_in(guesser)

    assert (refused.status, refused.code) == (429, "identity.login_backoff")
    assert (await log_in(ann)).status == 200


async def test_ones_own_sign_in_does_not_clear_the_address(
    strict: Company, strict_house: Application, ann: Client
) -> None:
    guesser, ben = from_elsewhere(ann), await person(strict)
    ben.address = guesser.address
    await guess_at_others(strict_house, guesser, ALLOWED - 1)
    assert (await log_in(guesser)).status == 200

    await guesser.post("/api/login", {"username": "somebody-last", "password": WRONG})
    await prolong(strict_house, "address", guesser.address)

    assert (await log_in(ben)).status == 429


async def test_who_signed_in_from_an_address_before_does_not_wait_for_what_others_do_there(
    strict_house: Application, ann: Client
) -> None:
    assert (await log_in(ann)).status == 200
    await guess_at_others(strict_house, ann, 1000)

    first_try = await log_in(ann)
    await fail(ann, ALLOWED)
    await prolong(strict_house, "account", account_of(ann))

    assert first_try.status == 200
    assert (await log_in(ann)).status == 429


async def test_an_ipv6_network_is_one_address(strict: Company, strict_house: Application) -> None:
    ben = await person(strict)
    for n in range(ALLOWED):
        ben.address = f"2001:db8:7:7:{n:x}::{n:x}"
        await log_in(ben, WRONG)
    await prolong(strict_house, "address", "2001:db8:7:7::/64")

    ben.address = "2001:db8:7:7:ffff::1"
    inside = await log_in(ben)
    ben.address = "2001:db8:7:8::1"

    assert inside.status == 429
    assert (await log_in(ben)).status == 200


async def test_an_address_waits_a_minute_at_most(strict_house: Application, ann: Client) -> None:
    guesser = from_elsewhere(ann)

    await guess_at_others(strict_house, guesser, 1000)

    assert 30 < int((await log_in(guesser)).headers["retry-after"]) <= 60


async def test_a_wrong_code_is_a_failure(strict_house: Application, ann: Client) -> None:
    await ann.post("/api/2fa/enable", {})
    await block(strict_house, ann, ALLOWED - 1)

    wrong = await log_in(ann, code="000000")
    await prolong(strict_house, "account", account_of(ann))
    refused = await log_in(ann, code="000000")

    assert (wrong.status, wrong.code) == (401, "identity.code_refused")
    assert (refused.status, refused.code) == (429, "identity.login_backoff")


async def test_leaving_the_code_out_is_none(strict_house: Application, ann: Client) -> None:
    await ann.post("/api/2fa/enable", {})
    await block(strict_house, ann, ALLOWED - 1)

    answers = [await log_in(ann) for _ in range(2)]
    await prolong(strict_house, "account", account_of(ann))
    answers.append(await log_in(ann))

    assert [answer.code for answer in answers] == ["identity.totp_required"] * 3


async def test_guessing_the_current_password_in_a_session_backs_off_wherever_the_session_is(
    strict_house: Application, ann: Client
) -> None:
    change = {"new_password": "another phrase altogether", "password": WRONG}
    [[session]] = await in_sql(strict_house, "SELECT id::text FROM tokens WHERE user_id = $1::uuid", ann.user_id)

    wrong = [await from_elsewhere(ann).post("/api/password", change) for _ in range(ALLOWED)]
    await prolong(strict_house, "session", str(session))
    refused = await from_elsewhere(ann).post("/api/password", change)

    assert {(answer.status, answer.code) for answer in wrong} == {(403, "identity.confirm_required")}
    assert (refused.status, refused.code) == (429, "identity.login_backoff")
    assert (await log_in(ann)).status == 200


async def test_counts_name_nobody_in_the_clear(strict_house: Application, ann: Client) -> None:
    guesser = from_elsewhere(ann)
    await log_in(guesser, WRONG)

    keys = b"".join(
        key for [key] in await in_sql(strict_house, "SELECT key FROM login_failures") if isinstance(key, bytes)
    )

    assert keys
    assert ann.username.encode() not in keys
    assert guesser.address.encode() not in keys


async def test_an_address_writes_sixty_times_a_minute_without_a_credential() -> None:
    async with fresh_application(rate_public_writes=60) as house:
        knocking, other = Client(house.app, address="203.0.113.1"), Client(house.app, address="203.0.113.2")

        answers = [await knocking.post("/api/login", {}) for _ in range(75)]

        refused = [answer for answer in answers if answer.status == 429]
        assert {answer.status for answer in answers[:60]} == {400}
        assert refused
        assert (refused[0].code, refused[0].headers["retry-after"]) == ("limits.rate", "1")
        assert (await other.post("/api/login", {})).status == 400
        assert (await knocking.get("/api/config")).status == 200
        await in_sql(house, "UPDATE rate_limits SET arrives_at = arrives_at - interval '1 minute'")
        assert (await knocking.post("/api/login", {})).status == 400


async def test_an_ipv6_network_writes_no_more_often_than_one_address() -> None:
    async with fresh_application(rate_public_writes=60) as house:
        answers = [await Client(house.app, address=f"2001:db8::{n:x}").post("/api/login", {}) for n in range(75)]

        assert 429 in {answer.status for answer in answers[60:]}


async def test_a_credential_is_told_its_rate_and_held_to_it(database_url: str) -> None:
    async with open_application(settings_for(database_url, rate_per_credential=5)) as house:
        company = await found_company(house)
        busy, calm = await company.join(), await company.join()

        answers = [await busy.get("/api/whoami") for _ in range(6)]

        assert [answer.status for answer in answers] == [200] * 5 + [429]
        assert [answer.headers["ratelimit"].split(";")[:2] for answer in answers[:5]] == [
            ['"credential"', f"r={left}"] for left in (4, 3, 2, 1, 0)
        ]
        assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"credential";q=5;w=60'}
        assert (answers[5].code, 1 <= int(answers[5].headers["retry-after"]) <= 12) == ("limits.rate", True)
        assert (await calm.get("/api/whoami")).status == 200
