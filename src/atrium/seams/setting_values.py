"""The values that settings take beyond texts, numbers and switches: where the root leads, machines, MCP servers, plans."""

from enum import Enum, StrEnum
from typing import Annotated, Literal

import msgspec


class Home(Enum):
    """What the root address shows."""

    CONSOLE = "console"
    BETA = "beta"


class LogLevel(StrEnum):
    """Lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class PushExecutor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine that this server calls, as the environment names it."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$(?!\n)")]
    url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/]+")]
    key: str = ""
    model: str = ""
    capabilities: list[str] = []


class PushExecutors(tuple[PushExecutor, ...]):
    """Machines out of a JSON list; no two have one name, whatever its case."""

    TAKES = 'a JSON list of {"name", "url", "key"?, "model"?, "capabilities"?} with names of their own, none of them `local`'

    def __new__(cls, text: str = "") -> "PushExecutors":
        """Out of JSON; a ValueError says what is wrong with it."""
        try:
            found = msgspec.json.decode(text or "[]", type=list[PushExecutor])
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error
        names = {one.name.lower() for one in found} - {"local"}
        if len(names) < len(found):
            raise ValueError("a name is missing, taken or reserved")
        return super().__new__(cls, found)

    def find(self, name: str) -> PushExecutor | None:
        """The machine of this name; None when there is none."""
        return next((one for one in self if one.name.lower() == name.lower()), None)


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server whose tools teams may turn on: at a URL, or a command that this server runs."""

    # Without underscores: a tool's name begins with it.
    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]{0,23}$(?!\n)")]
    url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/]+")] | None = None
    key: str = ""
    command: list[str] = []
    env: dict[str, str] = {}
    # Slugs of the companies that may use it; every company when there is none.
    orgs: list[str] = []
    # What its tools do, by the names it gives them; `egress` where nothing is said.
    effects: dict[str, Literal["read", "write", "egress"]] = {}


class McpServers(tuple[McpServer, ...]):
    """Servers out of a JSON list; no two have one name."""

    TAKES = 'a JSON list of {"name", "url", "key"?} or {"name", "command", "env"?}, each with "orgs"? and "effects"?'

    def __new__(cls, text: str = "") -> "McpServers":
        """Out of JSON; a ValueError says what is wrong with it."""
        try:
            found = msgspec.json.decode(text or "[]", type=list[McpServer])
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error
        if len({one.name for one in found}) < len(found):
            raise ValueError("a name is taken")
        if any((one.url is None) == (not one.command) for one in found):
            raise ValueError("a server has a url or a command")
        return super().__new__(cls, found)


_PLANS = """{
 "free": {"ai.requests/day": 200, "ai.tokens.total/month": 200000, "ai.concurrency/total": 2, "storage.bytes/total": 1000000000,
          "jobs.concurrency/total": 4},
 "team": {"ai.requests/day": 5000, "ai.tokens.total/month": 10000000, "ai.concurrency/total": 10, "storage.bytes/total": 100000000000,
          "jobs.concurrency/total": 32},
 "business": {"ai.requests/day": 100000, "ai.tokens.total/month": 200000000, "ai.concurrency/total": 50,
              "storage.bytes/total": 2000000000000, "jobs.concurrency/total": 128}
}"""


class Plan(msgspec.Struct, frozen=True):
    """A named set of caps on a whole company: (dimension, window) → most."""

    name: str
    caps: dict[tuple[str, str], int]


class Plans(tuple[Plan, ...]):
    """Plans out of a JSON object; `unlimited`, which has no caps, is always among them."""

    TAKES = 'a JSON object of plans, each an object of caps such as {"ai.requests/day": 200}'

    def __new__(cls, text: str = _PLANS) -> "Plans":
        """Out of JSON; a ValueError says what is wrong with it."""
        Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,63}$(?!\n)")]
        Cap = Annotated[str, msgspec.Meta(pattern=r"^[a-z.]+/[a-z]+$(?!\n)")]
        Most = Annotated[int, msgspec.Meta(ge=0, le=9_000_000_000_000_000)]
        try:
            found = msgspec.json.decode(text or "{}", type=dict[Name, dict[Cap, Most]])
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from error
        named: dict[str, dict[str, int]] = {"unlimited": {}} | found
        return super().__new__(cls, (Plan(name, dict(map(_cap, caps.items()))) for name, caps in named.items()))

    def find(self, name: str) -> Plan | None:
        """The plan of this name; None when there is none."""
        return next((one for one in self if one.name == name), None)

    def as_json(self) -> str:
        """As the environment gives it."""
        return msgspec.json.encode(
            {one.name: {"/".join(cap): most for cap, most in one.caps.items()} for one in self}
        ).decode()


def _cap(item: tuple[str, int]) -> tuple[tuple[str, str], int]:
    dimension, _, window = item[0].partition("/")
    return (dimension, window), item[1]
