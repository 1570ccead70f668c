"""The audit trail: who reads it over HTTP, and a chain that shows every change made behind its back."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from atrium.boot.assemble import Application, assemble
from atrium.ground.audit import chain_check as audit_verification
from atrium.ground.audit import chain_keys, sealer
from atrium.ground.audit import service as audit
from atrium.ground.audit.model import GENESIS, ChainKey, ChainRow, ChainVerdict, Head, key_id_of, link, sign_head
from atrium.kit.crypto.keys import Keyring
from atrium.kit.ids import new_id
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import SECRET, settings_for
from tests.support.signing_in import in_sql

Trail = tuple[Company, Client]
AT = "WHERE org_id = $1 AND seq = "


@pytest.fixture(scope="module")
async def quiet_house() -> AsyncIterator[Application]:
    """A house whose background loops are not running, so that nobody seals but the test."""
    async with fresh_database() as url:
        house = assemble(settings_for(url))
        await house.services.database.open()
        yield house
        await house.services.database.close()


@pytest.fixture
async def trail(quiet_house: Application) -> Trail:
    """A company with five sealed events, and somebody to make more."""
    company = await found_company(quiet_house)
    admin = await company.join("admin")
    await act(admin, 5)
    await seal(company)
    return company, admin


async def act(client: Client, times: int) -> None:
    for n in range(times):
        assert (await client.post("/api/features/chat", {"enabled": bool(n % 2)})).status == 200


async def seal(company: Company, *, but: int = 0) -> int:
    """Seal until no more than `but` events of the company are left; how many were sealed.

    An event waits for every transaction that was open beside it, and those of other databases on the server count too.
    """
    sealed, left = 0, -1
    async with asyncio.timeout(PATIENCE):
        while left != but:
            sealed += await sealer.seal(company.house.services.database, company.house.services.keys)
            left = await unsealed(company)
            await asyncio.sleep(0.01 if left != but else 0)
    return sealed


async def unsealed(company: Company) -> int:
    [[count]] = await in_sql(
        company.house, "SELECT count(*) FROM audit_events WHERE org_id = $1 AND seq IS NULL", company.org.id
    )
    assert isinstance(count, int)
    return count


async def verdict_on(company: Company, trusted: list[Head] | None = None) -> ChainVerdict:
    services = company.house.services
    found = [
        one
        async for one in audit_verification.verify(services.database, services.keys, trusted or [])
        if one.org_id == company.org.id
    ]
    assert len(found) == 1
    return found[0]


async def head_of(company: Company) -> Head:
    [head] = [head for head in await audit.list_heads(company.house.services.database) if head.org_id == company.org.id]
    return head


async def tamper(company: Company, sql: str) -> None:
    await in_sql(company.house, sql, company.org.id)


async def kinds_seen_by(client: Client) -> list[str]:
    return [event["kind"] for event in (await client.get("/api/audit"))["items"]]


async def test_an_event_says_who_did_what_to_which_thing(admin: Client) -> None:
    await admin.post("/api/features/chat", {"enabled": False})

    [event] = (await admin.get("/api/audit"))["items"]

    assert set(event) == {
        "id",
        "at",
        "kind",
        "subject",
        "facts",
        "team_id",
        "actor_id",
        "actor",
        "seq",
        "name",
        "redacted",
        "opens",
    }
    assert (event["kind"], event["subject"], event["facts"]) == ("features.switched", "chat", {"enabled": False})
    assert (event["actor_id"], event["actor"], event["team_id"]) == (admin.user_id, admin.username, admin.team_id)


async def test_events_are_listed_newest_first_page_by_page(admin: Client) -> None:
    await act(admin, 7)
    whole = [event["id"] for event in (await admin.get("/api/audit"))["items"]]
    seen: list[str] = []
    cursor = None

    while True:
        page = await admin.get("/api/audit", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [event["id"] for event in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == whole == sorted(whole, reverse=True)
    assert len(seen) == 7


async def test_events_that_come_meanwhile_do_not_shift_the_pages(admin: Client) -> None:
    await act(admin, 4)
    whole = [event["id"] for event in (await admin.get("/api/audit"))["items"]]
    first = await admin.get("/api/audit", limit=2)

    await act(admin, 3)
    second = await admin.get("/api/audit", limit=2, cursor=first["next_cursor"])

    assert [event["id"] for event in first["items"] + second["items"]] == whole


@pytest.mark.parametrize("role", ["viewer", "translator", "member"])
async def test_reading_the_trail_needs_managing_settings(company: Company, role: str) -> None:
    answer = await (await company.join(role)).get("/api/audit")

    assert (answer.status, answer.code) == (403, "access.permission_missing")


async def test_a_trail_is_its_teams_alone(company: Company, admin: Client, stranger: Client) -> None:
    next_door = await company.join("admin", team=await company.add_team())
    await act(admin, 1)

    assert await kinds_seen_by(admin) == ["features.switched"]
    assert await kinds_seen_by(next_door) == []
    assert await kinds_seen_by(stranger) == []


async def test_a_refused_change_leaves_no_event(admin: Client) -> None:
    await admin.post("/api/features/nonsense", {"enabled": True})
    await admin.post("/api/tokens", {"name": "x", "scope": ["instance:manage"]})

    assert await kinds_seen_by(admin) == []


async def test_sealing_gives_every_event_its_place(trail: Trail) -> None:
    company, admin = trail

    events = (await admin.get("/api/audit"))["items"]

    assert [event["seq"] for event in events] == [5, 4, 3, 2, 1]
    assert await verdict_on(company) == ChainVerdict(company.org.id, 5, 0)


async def test_sealing_again_goes_on_where_it_ended(trail: Trail) -> None:
    company, admin = trail
    await act(admin, 2)
    before = await verdict_on(company)

    assert await seal(company) == 2

    assert (before.events, before.unsealed, before.problem) == (5, 2, None)
    assert await verdict_on(company) == ChainVerdict(company.org.id, 7, 0)
    assert await sealer.seal(company.house.services.database, company.house.services.keys) == 0


async def test_each_company_has_a_chain_of_its_own(trail: Trail) -> None:
    company, _ = trail
    other = await found_company(company.house)
    await act(await other.join("admin"), 3)

    await seal(other)

    assert (await head_of(other)).seq == 3
    assert (await head_of(company)).seq == 5


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'features.nothing'",
        "subject = 'agent'",
        "facts = '{}'",
        "facts = facts || '{\"extra\": 1}'",
        "at = at + interval '1 microsecond'",
        "actor_id = gen_random_uuid()",
        "team_id = gen_random_uuid()",
        "id = gen_random_uuid()",
        "hash = sha256(hash)",
        "hash = NULL",
    ],
)
@pytest.mark.parametrize("place", [1, 3, 5])
async def test_a_changed_column_is_found(trail: Trail, change: str, place: int) -> None:
    company, _ = trail

    await tamper(company, f"UPDATE audit_events SET {change} {AT} {place}")

    assert f"event {place} " in str((await verdict_on(company)).problem)


@pytest.mark.parametrize("place", [1, 3, 5])
async def test_a_deleted_event_is_found(trail: Trail, place: int) -> None:
    company, _ = trail

    await tamper(company, f"DELETE FROM audit_events {AT} {place}")

    assert (await verdict_on(company)).problem is not None


async def test_two_events_that_changed_places_are_found(trail: Trail) -> None:
    company, _ = trail

    await tamper(company, f"UPDATE audit_events SET seq = 99 {AT} 2")
    await tamper(company, f"UPDATE audit_events SET seq = 2 {AT} 3")
    await tamper(company, f"UPDATE audit_events SET seq = 3 {AT} 99")

    assert (await verdict_on(company)).problem is not None


@pytest.mark.parametrize("seq", [0, -1, 6])
async def test_an_event_slipped_in_is_found(trail: Trail, seq: int) -> None:
    company, _ = trail

    await tamper(
        company,
        f"""
        INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject, seq, hash)
        SELECT org_id, gen_random_uuid(), team_id, actor_id, kind, 'forged', {seq}, hash FROM audit_events {AT} 5
        """,
    )

    assert (await verdict_on(company)).problem is not None


async def test_a_cut_tail_is_found_by_the_head_beside_it(trail: Trail) -> None:
    company, _ = trail

    await tamper(company, "DELETE FROM audit_events WHERE org_id = $1 AND seq > 3")

    assert "cut off" in str((await verdict_on(company)).problem)


async def test_an_unsealed_tail_is_found_too(trail: Trail) -> None:
    company, _ = trail

    await tamper(company, f"UPDATE audit_events SET seq = NULL, hash = NULL {AT} 5")
    await seal(company)

    assert (await verdict_on(company)).problem is not None


async def test_a_cut_tail_with_its_head_set_back_is_found_by_the_heads_signature(trail: Trail) -> None:
    company, _ = trail

    await cut_after(company, 3)

    assert "did not sign" in str((await verdict_on(company)).problem)


async def cut_after(company: Company, seq: int) -> None:
    """Take the tail away and set the head back, as somebody with the whole database in hand could."""
    await tamper(company, f"DELETE FROM audit_events WHERE org_id = $1 AND seq > {seq}")
    last = f"(SELECT hash FROM audit_events {AT} {seq})"
    await tamper(company, f"UPDATE audit_heads SET seq = {seq}, hash = {last} WHERE org_id = $1")


async def test_a_cut_tail_is_not_hidden_by_going_on_from_it(trail: Trail) -> None:
    company, admin = trail
    await cut_after(company, 3)
    await act(admin, 2)

    await sealer.seal(company.house.services.database, company.house.services.keys)

    assert await unsealed(company) == 2
    assert (await verdict_on(company)).problem is not None


async def test_a_head_of_an_earlier_moment_is_found_by_the_one_kept_outside(trail: Trail) -> None:
    company, admin = trail
    [earlier] = await in_sql(
        company.house, "SELECT seq, hash, signature FROM audit_heads WHERE org_id = $1", company.org.id
    )
    await act(admin, 2)
    await seal(company)
    kept = await head_of(company)

    await tamper(company, "DELETE FROM audit_events WHERE org_id = $1 AND seq > 5")
    await in_sql(
        company.house,
        "UPDATE audit_heads SET seq = $2, hash = $3, signature = $4 WHERE org_id = $1",
        company.org.id,
        *earlier,
    )

    assert (await verdict_on(company)).problem is None
    assert "kept outside" in str((await verdict_on(company, [kept])).problem)


async def test_a_trail_wiped_whole_is_found_by_the_head_kept_outside(trail: Trail) -> None:
    company, _ = trail
    kept = await head_of(company)

    await tamper(company, "DELETE FROM audit_events WHERE org_id = $1")
    await tamper(company, "DELETE FROM audit_heads WHERE org_id = $1")

    assert "kept outside" in str((await verdict_on(company, [kept])).problem)


async def test_a_chain_forged_with_a_guessed_key_is_found(trail: Trail) -> None:
    company, _ = trail
    kept = await head_of(company)
    await tamper(company, f"UPDATE audit_events SET subject = 'forged' {AT} 2")

    await forge(company, ChainKey(key_id_of(kept.hash), b"a guess"))

    assert "event 1 " in str((await verdict_on(company)).problem)


async def test_a_chain_forged_as_one_of_before_is_found_by_the_head_kept_outside(trail: Trail) -> None:
    company, admin = trail
    kept = await head_of(company)
    await tamper(company, f"UPDATE audit_events SET subject = 'forged' {AT} 2")
    await forge(company)
    await act(admin, 1)
    await seal(company)

    verdict = await verdict_on(company)

    assert (verdict.problem, verdict.events, verdict.unkeyed) == (None, 6, 5)
    assert "differs from the head kept outside" in str((await verdict_on(company, [kept])).problem)


async def test_a_chain_of_before_stays_good_and_goes_on_with_a_key(trail: Trail) -> None:
    company, admin = trail
    await forge(company)
    before = await verdict_on(company)

    await act(admin, 2)
    await seal(company)
    after = await verdict_on(company)
    await tamper(company, f"UPDATE audit_events SET subject = 'forged' {AT} 2")
    await forge(company, to=5, head=False)

    assert (before.problem, before.unkeyed, after.problem, after.unkeyed) == (None, 5, None, 5)
    assert "event 6 " in str((await verdict_on(company)).problem)


async def test_a_process_of_before_cannot_move_a_head_that_is_signed(trail: Trail) -> None:
    company, _ = trail

    with pytest.raises(asyncpg.CheckViolationError):
        await tamper(company, "UPDATE audit_heads SET seq = seq + 1, hash = sha256(hash) WHERE org_id = $1")


async def test_a_new_key_of_the_instance_ties_with_a_new_key_and_checks_with_the_old(trail: Trail) -> None:
    company, admin = trail
    services = company.house.services
    both = Keyring(f"another key for tests that is long enough,{SECRET}")
    fresh = Keyring("another key for tests that is long enough")
    try:
        assert await chain_keys.reseal(services.database, both) >= 1
        await act(admin, 2)
        async with asyncio.timeout(PATIENCE):
            while await unsealed(company):
                await sealer.seal(services.database, fresh)
        [verdict] = [
            one async for one in audit_verification.verify(services.database, fresh) if one.org_id == company.org.id
        ]

        assert verdict == ChainVerdict(company.org.id, 7, 0)
        count = "SELECT count(DISTINCT substr(hash, 1, 4)) FROM audit_events WHERE org_id = $1"
        assert [list(row) for row in await in_sql(company.house, count, company.org.id)] == [[2]]
        assert "cannot open" in str((await verdict_on(company)).problem)
    finally:
        await chain_keys.reseal(services.database, Keyring(f"{SECRET},another key for tests that is long enough"))


async def forge(company: Company, key: ChainKey | None = None, *, to: int = 99, head: bool = True) -> None:
    """Compute every link anew, without a key or with a guessed one, as somebody with the whole database in hand could."""
    rows = await in_sql(
        company.house,
        "SELECT org_id, id, team_id, actor_id, kind, subject, facts::text, extract(epoch FROM at)::text, seq, hash"
        " FROM audit_events WHERE org_id = $1 ORDER BY seq",
        company.org.id,
    )
    before = GENESIS
    for seq, values in enumerate(rows[:to], 1):
        fields: list[Any] = values
        before = link(before, seq, ChainRow(*fields), key)
        await in_sql(company.house, f"UPDATE audit_events SET hash = $2 {AT} {seq}", company.org.id, before)
    if head:
        signature = sign_head(key, company.org.id, len(rows), before) if key else None
        change = "UPDATE audit_heads SET hash = $2, signature = $3 WHERE org_id = $1"
        await in_sql(company.house, change, company.org.id, before, signature)


async def test_a_head_kept_outside_goes_on_holding_as_the_chain_grows(trail: Trail) -> None:
    company, admin = trail
    kept = await head_of(company)
    await act(admin, 2)
    await seal(company)

    assert await verdict_on(company, [kept]) == ChainVerdict(company.org.id, 7, 0)


async def test_an_event_of_an_open_transaction_is_sealed_later_and_not_skipped(trail: Trail) -> None:
    company, admin = trail
    connection = await asyncpg.connect(company.house.services.settings.database_url)
    slow = connection.transaction()
    await slow.start()
    await insert_event(connection, company, UUID(admin.user_id))

    await act(admin, 2)
    await sealer.seal(company.house.services.database, company.house.services.keys)
    meanwhile = await verdict_on(company)
    await slow.commit()
    await connection.close()
    await seal(company)

    assert (meanwhile.problem, meanwhile.events) == (None, 5)
    assert await verdict_on(company) == ChainVerdict(company.org.id, 8, 0)


async def insert_event(connection: Any, company: Company, actor: UUID) -> None:
    await connection.execute(
        "INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject) VALUES ($1, $2, $3, $4, 'slow', 's')",
        company.org.id,
        new_id(),
        company.team.id,
        actor,
    )


async def test_nobody_who_serves_requests_can_rewrite_an_event(trail: Trail) -> None:
    company, _ = trail
    connection = await asyncpg.connect(company.house.services.settings.database_url)

    try:
        for role in ("atrium_app", "atrium_system"):
            for sql in ("UPDATE audit_events SET subject = 'x'", "DELETE FROM audit_events", "DELETE FROM audit_heads"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.execute(f"SET ROLE {role}; {sql}")
                await connection.execute("RESET ROLE")
    finally:
        await connection.close()


async def test_p7_an_event_says_whether_its_reader_can_open_the_thing(company: Company) -> None:
    ada, admin = await company.join(), await company.join("admin")
    shared, private, dropped = [
        (await ada.post("/api/notes", {"title": f"note {number}", "visibility": visibility}))["id"]
        for number, visibility in enumerate(("team", "private", "team"))
    ]
    await ada.delete(f"/api/notes/{dropped}")

    events = (await admin.get("/api/audit", limit=100))["items"]

    told = {one["subject"]: (one["name"], one["opens"]) for one in events if one["kind"] == "notes.created"}
    assert told == {shared: ("note 0", True), private: (None, False), dropped: ("note 2", False)}
