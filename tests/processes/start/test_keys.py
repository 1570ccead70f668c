"""Rotating SERVICE_SECRET_KEY: new in front of old, reseal, drop the old one; people notice nothing."""

import time

import httpx
import pyotp
import pytest

from atrium.admin.instance.service import WrongKey
from atrium.boot.assemble import Application
from atrium.commands.keys import reseal
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.processes import FIRST_RUN, bootstrap, run_atrium, server_settings, serving
from tests.support.servers import SECRET, open_application, settings_for
from tests.walls.population import seal

NEW = "the next key that is long enough to be one"


def code_of(secret: str, steps: int) -> str:
    return pyotp.TOTP(secret).at(int(time.time()), steps)


async def sign_in(client: httpx.AsyncClient, code: str) -> int:
    known = {"username": FIRST_RUN["username"], "password": FIRST_RUN["password"]}
    return (await client.post("/api/login", json=known | {"code": code})).status_code


async def enrol(client: httpx.AsyncClient) -> str:
    answer = await client.post("/api/2fa/enable", json={})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["secret"])


async def test_after_resealing_the_old_key_can_be_dropped_and_one_time_codes_still_open() -> None:
    async with fresh_database() as url:
        async with serving(url, secret_key=SECRET) as (server,), server.client(await bootstrap(server)) as client:
            secret = await enrol(client)
        async with serving(url, secret_key=f"{NEW},{SECRET}") as (server,), server.client() as client:
            with_both = await sign_in(client, code_of(secret, -1))

        resealed = await run_atrium("keys", "reseal", **server_settings(url, secret_key=f"{NEW},{SECRET}"))

        async with serving(url, secret_key=NEW) as (server,), server.client() as client:
            with_new_alone = await sign_in(client, code_of(secret, 1))
        with_old_alone = await run_atrium("serve", **server_settings(url, secret_key=SECRET))

    assert with_both == 200
    assert (resealed.code, int(resealed.output.split()[0]) > 0) == (0, True), resealed.output
    assert with_new_alone == 200
    assert with_old_alone.code == 2
    assert "is not the key this database's secrets were sealed with" in with_old_alone.output


async def member_of(house: Application) -> Client:
    return await (await found_company(house)).join("member", password="a phrase only they know")


async def test_resealing_twice_changes_nothing_the_second_time() -> None:
    async with fresh_database() as url:
        async with open_application(settings_for(url)) as house:
            company = await found_company(house)
            await (await company.join()).post("/api/2fa/enable", {})
            await seal(house, company)
        rotating = settings_for(url, secret_key=f"{NEW},{SECRET}")

        changed = [await reseal(rotating), await reseal(rotating)]

    # The second factor's seed, and the key of the company's audit chain.
    assert changed == [2, 0]


async def test_resealing_with_the_wrong_keys_touches_nothing() -> None:
    async with fresh_database() as url:
        async with open_application(settings_for(url)):
            pass

        with pytest.raises(WrongKey):
            await reseal(settings_for(url, secret_key=NEW))

        async with open_application(settings_for(url)):
            pass


async def test_a_repeated_post_whose_reply_was_sealed_with_a_dropped_key_is_refused_and_not_done_again() -> None:
    once, draft = {"idempotency-key": "across-keys"}, {"title": "once"}
    async with fresh_database() as url:
        async with open_application(settings_for(url)) as house:
            alice = await member_of(house)
            await alice.post("/api/notes", draft, headers=once)
        await reseal(settings_for(url, secret_key=f"{NEW},{SECRET}"))

        async with open_application(settings_for(url, secret_key=NEW)) as house:
            alice.app = house.app
            answer = await alice.post("/api/notes", draft, headers=once)
            notes = (await alice.get("/api/notes"))["items"]

    assert (answer.status, answer.code) == (409, "idempotency.reused")
    assert len(notes) == 1
