"""What a server tells of its tools, read again before every call: kept while it is the same, and only then."""

from typing import Any

import pytest

from atrium.engine.tools.pins import pin_of
from atrium.product.mcp.definitions import Offered, Told, offered_by
from atrium.seams.settings import McpServers
from atrium.seams.tools import Tool

SERVER = McpServers('[{"name": "far", "command": ["far"]}]')[0]


async def never(tool: Tool, arguments: dict[str, Any]) -> None:
    raise AssertionError("no tool is called")


def offered(last: Offered | None = None, **default: Any) -> Offered:
    schema = {"type": "object", "properties": {"who": {"type": ["integer", "boolean"], **default}}}
    return offered_by(SERVER, [Told("greet", "Greet.", schema), Told("???", "", schema)], never, last)


def test_the_same_tools_are_kept_as_they_are() -> None:
    first = offered(default=1)

    assert list(first.tools) == ["mcp_far_greet"]
    assert [one.tool for one in first.left_out] == ["???"]
    assert offered(first, default=1) is first


@pytest.mark.parametrize("default", [True, 1.0, "1", None])
def test_a_change_that_python_takes_for_none_is_one(default: Any) -> None:
    first = offered(default=1)

    now = offered(first, default=default)

    assert pin_of(now.tools["mcp_far_greet"]) != pin_of(first.tools["mcp_far_greet"])
