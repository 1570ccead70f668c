"""Findings about the provisioning token: it is long, and guessing it is slow."""

import pytest

from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.processes import run_atrium
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding


async def test_f14_the_provisioning_token_cannot_be_guessed_at_any_rate() -> None:
    token = "the host's own token, which is long enough"
    async with fresh_database() as url:
        settings = settings_for(url, hosted=True, provision_token=token, rate_public_writes=5)
        async with open_application(settings) as house:
            guesses = [await Client(house.app, f"guess {n}").post("/api/instance/suspend") for n in range(8)]
            right = await Client(house.app, token).post("/api/instance/suspend")
            elsewhere = await Client(house.app, token, address="203.0.113.9").post(
                "/api/provision", {"username": "ada", "org": "Acme"}
            )

    assert [guess.status for guess in guesses] == [401] * 5 + [429] * 3
    assert right.status == 429
    assert elsewhere.status == 201


async def test_f14_a_short_provisioning_token_stops_the_start() -> None:
    checked = await run_atrium("check", hosted=1, provision_token="short")

    assert checked.code != 0
    assert "SERVICE_PROVISION_TOKEN is too short: it takes at least 32 characters" in checked.output
