"""Asking every row for another company's things, and remembering which answers carried them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from atrium.boot.assemble import Application
from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import Auth
from tests.support.client import Answer, Client
from tests.table.exemptions import EXEMPT
from tests.table.rows import is_public, key_of, name_of, parameters_of
from tests.table.specimens import SPECIMENS, Ask, Place, the_first_team
from tests.table.stage import WORKER, rightful, somebody
from tests.walls.population import Populated


@dataclass(frozen=True, slots=True)
class Errand:
    """One request of ours that must bring nothing of theirs."""

    row: str
    ask: Ask
    caller: Client
    canaries: tuple[str, ...]
    foreign: bool

    async def run(self) -> Answer:
        return await self.ask.by(self.caller)

    def leaks(self, answer: Answer) -> bool:
        return any(canary.encode() in answer.raw for canary in self.canaries)


async def errands(house: Application, ours: Populated, theirs: Populated) -> list[Errand]:
    """Every listing in each of its forms, and every row with an id asked with one of theirs."""
    found: list[Errand] = []
    for endpoint in house.endpoints:
        # Operators look over all companies, provisioning is not a caller's at all, and S3 is asked in its own protocol.
        if endpoint.route.protocol == "MCP":
            found += await _tool_calls(endpoint, ours, theirs)
            continue
        if is_public(endpoint) or endpoint.route.auth in (Auth.SUPERADMIN, Auth.PROVISION, Auth.SIGNED):
            continue
        if endpoint.route.method == "GET" and not endpoint.path:
            found += await _listings(endpoint, ours, theirs)
        elif key_of(endpoint) not in EXEMPT["another_companys_id"]:
            found += await _foreign_ids(endpoint, ours, theirs)
    # The sign-up form belongs to one team of the instance: ours, when we ask.
    form = next(endpoint for endpoint in house.endpoints if endpoint.route.path == "/api/beta/prospects")
    await the_first_team(await _place(form, ours))
    return found


async def _listings(endpoint: Endpoint, ours: Populated, theirs: Populated) -> list[Errand]:
    mine = await _place(endpoint, ours)
    ask = await SPECIMENS.ask(endpoint, mine)
    return [
        Errand(name_of(endpoint), replace(ask, query={**ask.query, **query}), mine.caller, (theirs.canary,), False)
        for query in _forms(endpoint, theirs)
    ]


def _forms(endpoint: Endpoint, theirs: Populated) -> Iterator[dict[str, object]]:
    largest = 50 if endpoint.route.path == "/api/search" else 200
    most: dict[str, object] = {"limit": largest} if "limit" in endpoint.query else {}
    yield most
    if "scope" in endpoint.query:
        yield {**most, "scope": "org"}
    if "q" in endpoint.query:
        yield {**most, "q": theirs.canary}


async def _foreign_ids(endpoint: Endpoint, ours: Populated, theirs: Populated) -> list[Errand]:
    found = []
    for parameter in parameters_of(endpoint.route.path):
        mine, other = await _place(endpoint, ours), await _place(endpoint, theirs)
        value = await SPECIMENS.maker_of(parameter)(other)
        ask = await SPECIMENS.ask(endpoint, mine, {parameter: value})
        found.append(Errand(name_of(endpoint), ask, mine.caller, (theirs.canary, other.canary), True))
    return found


async def _tool_calls(endpoint: Endpoint, ours: Populated, theirs: Populated) -> list[Errand]:
    """Every tool that reads, asked for what is theirs; what a tool refuses is a result that says so."""
    mine = await _place(endpoint, ours)
    asked: list[tuple[str, dict[str, str]]] = [
        ("notes_list", {}),
        ("notes_list", {"q": theirs.canary}),
        ("notes_read", {"id": theirs.team_note}),
        ("notes_read", {"id": theirs.private_note}),
        ("documents_read", {"id": theirs.document}),
        ("files_list", {}),
        ("files_list", {"prefix": theirs.canary}),
        ("doc_text", {"object": theirs.document}),
        ("search", {"q": theirs.canary}),
    ]
    return [
        Errand(name_of(endpoint), _tool_call(endpoint, name, arguments), mine.caller, (theirs.canary,), False)
        for name, arguments in asked
    ]


def _tool_call(endpoint: Endpoint, name: str, arguments: dict[str, str]) -> Ask:
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Ask(endpoint.route.method, endpoint.route.path, body)


async def _place(endpoint: Endpoint, where: Populated) -> Place:
    person = rightful(endpoint)
    # A worker is no person, and has no role in a company.
    person = person if person is WORKER else {"org_role": "org_owner", **person}
    return Place(where.company, where.company.team, await somebody(where.company, where.company.team, person))
