"""A company with something in every table, made through the interface, every text of it carrying one canary."""

import asyncio
import secrets
from dataclasses import dataclass

from atrium.boot.assemble import House
from atrium.ground.audit import service as audit
from tests.client import Answer, Client
from tests.people import Company, found_company
from tests.postgres import run_as_owner


@dataclass(frozen=True, slots=True)
class Populated:
    """The company, two of its people in two teams, what they own, and the text that betrays a leak."""

    company: Company
    owner: Client
    other: Client
    canary: str
    private_note: str
    team_note: str
    token: str


async def _done(answer: Answer) -> Answer:
    assert answer.status < 300, answer.raw
    return answer


async def populate(house: House) -> Populated:
    """Rows in every tenant table; the other person is in another team, so that team and company can be told apart."""
    canary = f"canary-{secrets.token_hex(8)}"
    company = await found_company(house, name=canary)
    owner = await company.join("owner", org_role="org_owner")
    other = await company.join("owner", team=await company.add_team(f"{canary} too"))
    for person in (owner, other):
        await _switch_and_enrol(person, canary)
    private, shared = await _notes_of(other, canary, shared_with=owner)
    token = await _done(await other.post("/api/tokens", {"name": canary}, headers={"idempotency-key": canary}))
    await _seal(house, company)
    return Populated(company, owner, other, canary, private, shared, token["id"])


async def _seal(house: House, company: Company) -> None:
    # An event is sealed once every older transaction of the whole server has ended; a neighbour's may still run.
    async with asyncio.timeout(30):
        while not await run_as_owner(
            house.services.settings.database_url, "SELECT FROM audit_heads WHERE org_id = $1", company.org.id
        ):
            await audit.seal(house.services.database)


async def _switch_and_enrol(person: Client, canary: str) -> None:
    await _done(await person.post("/api/profile", {"display_name": canary}))
    await _done(await person.post("/api/2fa/enable", {}))
    await _done(await person.post("/api/features/agent", {"enabled": True}))
    await _done(await person.post("/api/tools/word_count", {"enabled": True}))
    await _done(await person.post("/api/members", {"username": canary + secrets.token_hex(4), "role": "member"}))


async def _notes_of(person: Client, canary: str, *, shared_with: Client) -> tuple[str, str]:
    made = [
        (await _done(await person.post("/api/notes", {"title": canary, "body": canary, "visibility": visibility})))[
            "id"
        ]
        for visibility in ("private", "team")
    ]
    for note in made:
        await _done(
            await person.post(f"/api/notes/{note}/share", {"user_id": shared_with.user_id, "permission": "notes:read"})
        )
    return made[0], made[1]
