"""The integrator's plugin as the loader sees it, and what its tool, routes and report check answer."""
# ruff: noqa: D103, S101

from pathlib import Path
from typing import Any

import msgspec
import pytest

from atrium.admin.plugins.loader import load_plugins
from atrium.sdk import Plugin, PluginRequest, UserError
from atrium.seams.wiring import Registry

GOOD = {"lane": "AMS-LIS", "shipments": 12, "on_time": 0.75}


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    load_plugins([Path(__file__).parent.parent], registry)
    return registry


@pytest.fixture
def plugin(registry: Registry) -> Plugin:
    return registry.plugins["integrator-demo"].plugin


async def test_the_tool_estimates(registry: Registry) -> None:
    found = await registry.tools["shipment_eta"].run(None, None, {"lane": " ams-lis "})

    assert (found.lane, found.days) == ("AMS-LIS", 3)


async def test_both_routes_answer_the_same(plugin: Plugin) -> None:
    from_query, from_body = plugin.routes

    asked = await from_query.handler(None, PluginRequest({}, from_query.query("ROT-SIN"), None))
    posted = await from_body.handler(None, PluginRequest({}, {}, from_body.body("ROT-SIN")))

    assert (asked.lane, asked.days) == ("ROT-SIN", 28)
    assert asked == posted


async def test_an_unknown_lane_is_the_callers_error(plugin: Plugin) -> None:
    route = plugin.routes[1]

    with pytest.raises(UserError, match="there is no lane MARS-VENUS"):
        await route.handler(None, PluginRequest({}, {}, route.body("MARS-VENUS")))


@pytest.mark.parametrize("body", [None, [], {}, {"lane": 7}, {"lane": ""}])
def test_anything_but_a_lane_does_not_fit_the_body(plugin: Plugin, body: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(body, plugin.routes[1].body)


def test_reports_are_made_elsewhere(registry: Registry) -> None:
    kind = registry.job_kinds["x.integrator-demo.lane-report"]

    assert kind.remote
    assert kind.source == "plugin:integrator-demo"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"remarks": "fog"}, None),
        ({"shipments": -1}, "shipments"),
        ({"on_time": 1.5}, "on_time"),
        ({"lane": None}, "lane"),
        ({"profit": 3}, "profit"),
    ],
)
def test_a_report_is_checked(plugin: Plugin, change: dict[str, Any], problem: str | None) -> None:
    found = plugin.job_kinds[0].problem_with(GOOD | change)

    assert (problem in found) if problem else not found
