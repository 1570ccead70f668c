"""The integrator's plugin as the loader sees it, and what its tool, routes and report check answer."""
# ruff: noqa: D103, S101

from pathlib import Path
from typing import Any

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
    assert await registry.tools["shipment_eta"].run(None, None, {"lane": " ams-lis "}) == {"lane": "AMS-LIS", "days": 3}


async def test_both_routes_answer_the_same(plugin: Plugin) -> None:
    from_query, from_body = plugin.routes

    asked = await from_query.handler(None, PluginRequest({}, {"lane": "ROT-SIN"}, None))
    posted = await from_body.handler(None, PluginRequest({}, {}, {"lane": "ROT-SIN"}))

    assert asked == posted == {"lane": "ROT-SIN", "days": 28}


@pytest.mark.parametrize("body", [None, [], {}, {"lane": 7}, {"lane": ""}, {"lane": "MARS-VENUS"}])
async def test_an_unknown_lane_is_the_callers_error(plugin: Plugin, body: object) -> None:
    with pytest.raises(UserError, match="lane"):
        await plugin.routes[1].handler(None, PluginRequest({}, {}, body))


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
