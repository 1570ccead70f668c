"""The tools of the plugin translate-chat: they answer, meter what they spend, and are held to the caller's rights."""

from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.tools.calls import call_tool
from atrium.ground.identity import service as identity
from atrium.kit.errors import AppError
from atrium.seams.context import HoldLevel, Operation
from tests.support.client import Client
from tests.support.people import Company
from tests.support.spoken_house import used


async def call(house: Application, person: Client, name: str, **arguments: Any) -> Any:
    """The tool's result, called as a person's request would."""
    services = house.services
    async with services.database.borrow() as connection:
        who = await identity.identify(services.database, connection, (person.token or "").encode())
    op = Operation(who=who, services=services, holding=HoldLevel.WRITING)
    return (await call_tool(op, name, arguments)).value


async def test_a_message_is_answered_and_metered(house: Application, alice: Client) -> None:
    said = await call(house, alice, "chat_message", text="Good morning")

    assert said == "[simulated] Good morning"
    assert (await used(alice))["ai.requests"] == 1


async def test_a_text_is_translated_metered_and_in_the_history(house: Application, alice: Client) -> None:
    said = await call(house, alice, "translate_text", text="Good morning {name}", target="es", source="en")

    assert said.startswith("Ĝòòd mòŕńìńĝ {name}")
    assert (await used(alice))["ai.requests"] == 1
    assert [one["original"] for one in (await alice.get("/api/translate"))["items"]] == ["Good morning {name}"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"text": "x", "target": "no tag"}, "plugins.refused"),
        ({"text": "x" * 200_001, "target": "es"}, "plugins.refused"),
        ({"text": "x"}, "tools.bad_arguments"),
    ],
)
async def test_wrong_arguments_are_refused(house: Application, alice: Client, arguments: Any, code: str) -> None:
    with pytest.raises(AppError) as refused:
        await call(house, alice, "translate_text", **arguments)

    assert refused.value.code == code


async def test_the_features_switch_and_permissions_hold(house: Application, company: Company, admin: Client) -> None:
    reader = await company.join("member", scope=["notes:read"])
    with pytest.raises(AppError) as forbidden:
        await call(house, reader, "translate_text", text="x", target="es")
    await admin.post("/api/features/translate", {"enabled": False})
    with pytest.raises(AppError) as off:
        await call(house, admin, "translate_text", text="x", target="es")

    assert (forbidden.value.code, off.value.code) == ("access.permission_missing", "features.off")
