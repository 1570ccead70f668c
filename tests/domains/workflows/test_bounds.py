"""What a run that others bind is handed out, writes over and notes: by calls of the domains as such a run's step makes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from atrium.admin.sandbox import service as sandbox
from atrium.admin.sandbox.model import Guest
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts, uploads, writes
from atrium.engine.repository.model import Conditions, DerivationSource, Filter, KeyTaken, ObjectDraft, Provenance
from atrium.engine.workflows import bounds, thing_rows
from atrium.ground.access.model import ReadersRefused
from atrium.kit.ids import new_id
from atrium.product.knowledge import service as knowledge
from atrium.product.notes import service as notes
from atrium.product.search import service as search
from atrium.product.search.model import Search
from atrium.seams import sharing
from atrium.seams.context import Bound, Context, Operation, RunStep
from tests.domains.triggers.flows import arm, done, publish, upload
from tests.domains.triggers.test_firing import acting, runs_of, sql
from tests.support.client import Client
from tests.support.people import Company


async def bound_by(company: Company, writer: Client, *others: Client, **more: Any) -> Operation:
    """What a step of a run has that this writer's file fired."""
    people = tuple([(await acting(company, other)).who for other in others])
    op, step = await acting(company, writer), RunStep(run_id=new_id(), name="step", index=None)
    return msgspec.structs.replace(op, step=step, bound=Bound(others=people, **more))


async def of_notes(ctx: Context) -> list[str]:
    return [note.title for note in (await notes.list_notes(ctx, "team", None, 2, None)).items]


async def of_files(ctx: Context) -> list[str]:
    return [one.key for one in (await repository.list_objects(ctx, Filter(), 2, None)).items]


async def of_search(ctx: Context) -> list[str]:
    return [hit.title for hit in (await search.search(ctx, Search("plan"), 2, None)).items]


async def of_unread(ctx: Context) -> list[str]:
    ids = await texts.list_unread(ctx, 2)
    return sorted((await repository.list_keys(ctx, ids)).values())


async def note(person: Client, title: str, visibility: str) -> None:
    await done(person.post("/api/notes", {"title": title, "body": "plan", "visibility": visibility}))


async def file(person: Client, title: str, visibility: str) -> None:
    await upload(person, title, b"x", "application/pdf", visibility=visibility)


@pytest.mark.parametrize(
    ("listed", "make"), [(of_notes, note), (of_files, file), (of_search, note), (of_search, file), (of_unread, file)]
)
async def test_a_listing_is_filled_from_what_everybody_can_read(
    company: Company, admin: Client, listed: Callable[..., Any], make: Callable[..., Any]
) -> None:
    mia = await company.join("member")
    # Behind these in every order of a listing: by key, by age, and by how well they fit.
    for number in range(3):
        await make(mia, f"plan {number}", "team")
    await make(mia, "plan", "private")
    for number in range(5):
        await make(mia, f"plan -{number}", "private")
    if listed is of_unread:
        # As where extraction is off.
        await sql(company, "DELETE FROM object_texts WHERE org_id = $1", UUID(mia.org_id))
        await sql(
            company,
            "INSERT INTO unread_objects (object_id, org_id, team_id, version_id, written_at) "
            "SELECT id, org_id, team_id, version_id, CASE visibility WHEN 'team' THEN now() ELSE '-infinity' END "
            "FROM objects WHERE org_id = $1 ON CONFLICT DO NOTHING",
            UUID(mia.org_id),
        )
    op = await bound_by(company, mia, admin)

    async with op.begin() as ctx:
        found = await listed(ctx)

    assert len(found) == 2
    assert set(found) <= {f"plan {number}" for number in range(3)}


async def test_so_many_rows_of_a_listing_are_looked_at_and_no_more(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "MOST_LOOKED_AT", 4)
    mia = await company.join("member")
    await note(mia, "open", "team")
    for number in range(4):
        await note(mia, f"private {number}", "private")
    op = await bound_by(company, mia, admin)

    async with op.begin() as ctx:
        page = await notes.list_notes(ctx, "team", None, 1, None)
    await note(mia, "newest", "team")
    async with op.begin() as ctx:
        newest = await notes.list_notes(ctx, "team", None, 1, None)

    assert (page.items, page.next_cursor) == ([], None)
    assert [one.title for one in newest.items] == ["newest"]


async def derived(company: Company, mia: Client, key: str, source: Any) -> Any:
    """A document of Mia's that was made from a file."""
    op = await acting(company, mia)
    draft = ObjectDraft(key=key, content_type="text/markdown", visibility="private")
    from_file = Provenance((DerivationSource(UUID(source["id"]), UUID(source["version"]["id"])),))
    async with op.begin() as ctx:
        return await writes.write_small(ctx, draft, b"made", provenance=from_file)


async def confined(company: Company, mia: Client, admin: Client, fired_by: Any) -> Operation:
    return await bound_by(company, mia, admin, own={("object", UUID(fired_by["id"]))}, confined=True)


async def require_writable(op: Operation, key: str) -> Any:
    async with op.begin() as ctx:
        return await writes.require_writable(ctx, ObjectDraft(key=key, content_type=""), Conditions())


async def test_what_was_made_from_what_the_run_made_is_written_over(company: Company, admin: Client) -> None:
    mia = await company.join("member")
    fired_by = await upload(mia, "f.txt", visibility="private")
    form = await derived(company, mia, "f.txt.form.md", fired_by)
    made = await repository_object(company, mia, form.id)
    await derived(company, mia, "f.txt.form.md.es.md", made)
    op = await confined(company, mia, admin, fired_by)
    with pytest.raises(KeyTaken):
        await require_writable(op, "f.txt.form.md.es.md")

    first = await require_writable(op, "f.txt.form.md")
    second = await require_writable(op, "f.txt.form.md.es.md")

    assert (first.key, second.key) == ("f.txt.form.md", "f.txt.form.md.es.md")


async def repository_object(company: Company, person: Client, id: UUID) -> Any:
    return (await done(person.get(f"/api/repo-obj/{id}"))).body


async def test_a_derived_document_that_was_deleted_is_written_again(company: Company, admin: Client) -> None:
    mia = await company.join("member")
    fired_by = await upload(mia, "f.txt", visibility="private")
    form = await derived(company, mia, "f.txt.form.md", fired_by)
    async with (await acting(company, mia)).begin() as ctx:
        await writes.mark_deleted(ctx, form.id)

    existing = await require_writable(await confined(company, mia, admin, fired_by), "f.txt.form.md")

    assert (existing.id, existing.version.deleted) == (form.id, True)


async def test_a_derived_document_that_somebody_else_can_read_is_refused_as_such(
    company: Company, admin: Client
) -> None:
    mia, bob = await company.join("member"), await company.join("member")
    fired_by = await upload(mia, "f.txt", visibility="private")
    form = await derived(company, mia, "f.txt.form.md", fired_by)
    await done(mia.post(f"/api/repo-obj/{form.id}/share", {"user_id": bob.user_id}))

    with pytest.raises(ReadersRefused):
        await require_writable(await confined(company, mia, admin, fired_by), "f.txt.form.md")


async def test_what_a_step_writes_is_noted_before_its_result_is_kept(company: Company, admin: Client) -> None:
    mia, noted = await company.join("member"), list[set[Any]]()
    op = await bound_by(company, mia, admin)

    async def also(ctx: Context, written: Any) -> None:
        assert ctx.step is not None
        noted.append({id for _, id in ctx.step.made} & {written.id})

    async def chunks() -> Any:
        yield b"x"

    async with uploads.receive(op, chunks(), 1) as received:
        written = await writes.write_object(
            op, ObjectDraft(key="a.txt", content_type="text/plain"), received, also=also
        )

    assert noted == [{written.id}]


async def a_run(company: Company, admin: Client, maker: Client) -> Any:
    """A run that a file of the admin's fired."""
    trigger = await arm(maker, await publish(admin))
    await upload(admin, "a.txt")
    return (await runs_of(company, trigger))[-1]


async def test_what_a_run_made_is_looked_up_when_it_is_asked_about(company: Company, admin: Client) -> None:
    run = await a_run(company, admin, await company.join("admin"))
    op = await acting(company, admin)
    made = [("note", new_id()), ("note", new_id())]
    async with op.begin() as ctx:
        await thing_rows.insert_things(
            ctx.db, ctx.who.org_id, [(run["id"], thing, True) for thing in made] + [(run["id"], ("note", new_id()), False)],
            [], {},
        )  # fmt: skip

    bound = await bounds.bind(op, run["id"])
    assert bound.bound is not None
    fired_by = {("object", run["fired_by"])}
    before = set(bound.bound.own)
    async with bound.begin() as ctx:
        own = await sharing.list_own(ctx, {made[0], ("note", new_id())})

    assert (before, own, bound.bound.own) == (fired_by, {made[0]}, fired_by | {made[0]})


async def test_noting_what_a_run_has_touched_holds_no_row_that_is_there(company: Company, admin: Client) -> None:
    run = await a_run(company, admin, await company.join("admin"))
    op, thing = await acting(company, admin), ("note", new_id())
    key = run["id"], thing[1]
    locked = "SELECT FROM run_objects WHERE run_id = $1 AND object_id = $2 FOR UPDATE NOWAIT"

    async def insert(ctx: Context, made: bool) -> None:
        await thing_rows.insert_things(ctx.db, ctx.who.org_id, [(run["id"], thing, made)], [], {})

    async with op.begin() as ctx:
        await insert(ctx, made=False)
    async with op.begin() as ctx:
        await insert(ctx, made=False)
        await sql(company, locked, *key)
    async with op.begin() as ctx:
        await insert(ctx, made=True)
        with pytest.raises(asyncpg.LockNotAvailableError):
            await sql(company, locked, *key)
    async with op.begin() as ctx:
        await insert(ctx, made=True)
        await sql(company, locked, *key)

    [row] = await sql(company, "SELECT made FROM run_objects WHERE run_id = $1 AND object_id = $2", *key)
    assert row["made"] is True


async def test_a_run_that_nobody_else_set_up_shares_its_guests_process(company: Company, admin: Client) -> None:
    other = await company.join("admin")
    guest = Guest("odd", Path())

    alone = await bound_by(company, admin)
    bound = await bound_by(company, admin, other)

    assert bound.step is not None
    assert (sandbox._key(guest, alone).run_id, sandbox._key(guest, bound).run_id) == (None, bound.step.run_id)


async def test_documents_to_read_next_are_those_that_everybody_can_read(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge, "MOST_AT_ONCE", 1)
    mia = await company.join("member")
    for visibility in ("private", "private", "team"):
        written = await upload(mia, f"{new_id()}.txt", visibility=visibility)
    await sql(company, "UPDATE object_texts SET state = 'done', text = 'x' WHERE org_id = $1", UUID(mia.org_id))
    op = await bound_by(company, mia, admin)

    async with op.begin() as ctx:
        found = await knowledge.list_unextracted(ctx)

    assert found == [UUID(written["id"])]


async def test_what_people_leave_behind_is_found_by_an_index(company: Company) -> None:
    found = await sql(
        company,
        "SELECT indexname, indexdef FROM pg_indexes WHERE indexname IN ('workflow_reviews_of_person', 'doc_triggers_of_maker')",
    )

    columns = {row["indexname"]: row["indexdef"].partition("USING btree ")[2] for row in found}
    assert columns == {
        "workflow_reviews_of_person": "(org_id, user_id)",
        "doc_triggers_of_maker": "(org_id, COALESCE(maker_id, created_by))",
    }
