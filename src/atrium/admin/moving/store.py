"""SQL of moving: a company's tables as the catalog has them, their rows in and out, and where a move stands."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from uuid import UUID

from atrium.admin.backups.model import SchemaVersion
from atrium.admin.moving.model import Blob, Move, MovingCompany, Table
from atrium.kit.postgres.database import Transaction
from atrium.product.changes.model import FEED

MOVE = "company, state, was_suspended, archive, location, changed_at"
# Says of a company that it is leaving, which on the other side it is not.
_LEFT_BEHIND = "orgs.moving_at"


async def sees_everything(db: Transaction) -> bool:
    return bool(await db.value("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"))


async def read_schema(db: Transaction) -> SchemaVersion | None:
    return await db.one(SchemaVersion, "SELECT number, checksum FROM schema_migrations ORDER BY number DESC LIMIT 1")


async def list_tables(db: Transaction) -> list[Table]:
    """Every table behind the wall but the feed, whichever domain made it; a new one is among them without a word here."""
    return await db.all(
        Table,
        """
        SELECT c.relname::text, CASE WHEN c.relname = 'orgs' THEN 'id' ELSE 'org_id' END, m.columns, m.ids,
               coalesce((SELECT string_agg('t.' || quote_ident(a.attname)
                                           || CASE WHEN a.attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END, ', '
                                           ORDER BY array_position(i.indkey::int2[], a.attnum))
                           FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
                          WHERE i.indrelid = c.oid AND i.indisprimary), 't::text COLLATE "C"'),
               ARRAY(SELECT DISTINCT p.relname::text FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid
                      WHERE k.contype = 'f' AND k.conrelid = c.oid AND p.oid <> c.oid),
               coalesce((SELECT ARRAY[a.attname::text, p.relname::text, b.attname::text]
                           FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid
                           JOIN pg_attribute o ON o.attrelid = c.oid AND o.attnum = ANY (k.conkey) AND o.attname = 'org_id'
                          CROSS JOIN LATERAL unnest(k.conkey, k.confkey) f(own, theirs)
                           JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.own AND a.attnum <> o.attnum AND a.attnotnull
                           JOIN pg_attribute b ON b.attrelid = p.oid AND b.attnum = f.theirs
                          WHERE k.contype = 'f' AND k.conrelid = c.oid AND k.convalidated AND p.relrowsecurity
                            AND EXISTS (SELECT FROM pg_index i
                                         WHERE i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indpred IS NULL)
                            AND NOT EXISTS (SELECT FROM pg_index i
                                             WHERE i.indrelid = c.oid AND i.indkey[0] = o.attnum AND i.indpred IS NULL)
                          ORDER BY k.conname, a.attnum LIMIT 1), '{}')
          FROM pg_class c CROSS JOIN LATERAL (
            SELECT array_agg(a.attname::text ORDER BY a.attnum) AS columns,
                   coalesce(array_agg(a.attname::text ORDER BY a.attnum)
                     FILTER (WHERE a.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype)), '{}') AS ids
              FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity = ''
               AND a.atttypid <> 'xid8'::regtype AND c.relname || '.' || a.attname <> :left_behind::text) m
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relrowsecurity AND c.relname <> :feed::text
         ORDER BY c.relname
        """,
        left_behind=_LEFT_BEHIND,
        feed=FEED,
    )


async def list_unwalled(db: Transaction) -> list[str]:
    """Tables that name a company and are not behind the wall; the instance's own row names the first one."""
    rows = await db.rows(
        """
        SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND c.relname <> 'instance'
        """
    )
    return [row[0] for row in rows]


async def list_sealed(db: Transaction) -> set[tuple[str, str]]:
    """Columns behind the wall that say by their name that they are sealed."""
    rows = await db.rows(
        """
        SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
         WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity AND c.relkind IN ('r', 'p')
           AND a.atttypid = 'bytea'::regtype AND a.attname ~ '(^|_)sealed$'
        """
    )
    return {(row[0], row[1]) for row in rows}


async def write_plainly(db: Transaction) -> None:
    """The same text for the same value on every server."""
    await db.rows(
        """
        SELECT set_config('datestyle', 'ISO, MDY', true), set_config('intervalstyle', 'postgres', true),
               set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true)
        """
    )


async def copy_rows(db: Transaction, table: Table, org_id: UUID, sink: Callable[[bytes], Awaitable[None]]) -> None:
    await db.copy_out(rows_of(table, org_id), sink)


def rows_of(table: Table, org_id: UUID) -> str:
    """A company's rows of a table, in their order."""
    columns = ", ".join(f't."{column}"' for column in table.columns)
    own = f"t.{table.org_column} = '{org_id}'{_found(table, org_id)}"
    return f"""SELECT {columns} FROM public."{table.name}" t WHERE {own} ORDER BY {table.order}"""


def _found(table: Table, org_id: UUID) -> str:
    """How an index finds a company's rows: through the rows they belong to, of the same company, where only those have one for it."""
    if not table.through:
        return ""
    column, parent, referred = table.through
    return f""" AND t."{column}" IN (SELECT p."{referred}" FROM public."{parent}" p WHERE p.org_id = '{org_id}')"""


async def load_rows(db: Transaction, table: Table, source: AsyncIterator[bytes]) -> None:
    await db.copy_in(table.name, table.columns, source)


async def delete_rows(db: Transaction, table: Table, org_id: UUID) -> int:
    return await _delete(db, table.name, table.org_column, _found(table, org_id), org_id)


async def _delete(db: Transaction, name: str, company: str, found: str, org_id: UUID) -> int:
    return await db.run(f'DELETE FROM public."{name}" t WHERE t.{company} = :org_id{found}', org_id=org_id)


async def drop_feed(db: Transaction, org_id: UUID) -> None:
    await db.run(f"DELETE FROM {FEED} WHERE org_id = :org_id", org_id=org_id)


async def settle_constraints(db: Transaction) -> None:
    """Have what waits for the end of the transaction now."""
    await db.rows("SET CONSTRAINTS ALL IMMEDIATE")


async def find_company(db: Transaction, ref: str) -> MovingCompany | None:
    return await db.one(
        MovingCompany,
        "SELECT id, slug, name, domain, suspended_at IS NOT NULL FROM orgs WHERE slug = :ref OR id::text = :ref",
        ref=ref,
    )


async def list_operators(db: Transaction, org_id: UUID) -> list[str]:
    rows = await db.rows(
        "SELECT username FROM users WHERE org_id = :org_id AND operator AND left_at IS NULL ORDER BY username",
        org_id=org_id,
    )
    return [row[0] for row in rows]


async def is_first(db: Transaction, org_id: UUID) -> bool:
    return bool(await db.value("SELECT EXISTS (SELECT FROM instance WHERE org_id = :org_id)", org_id=org_id))


async def count_companies(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM orgs"))


async def list_machines(db: Transaction, org_id: UUID) -> list[str]:
    """Machines of the instance that serve this company alone."""
    rows = await db.rows(
        "SELECT name FROM executors WHERE bound_to = :org_id AND retired_at IS NULL ORDER BY name", org_id=org_id
    )
    return [row[0] for row in rows]


async def lock_company(db: Transaction, org_id: UUID) -> None:
    """Alone: every change of it that was under way has ended, and one that comes later waits."""
    # First the lock that writing transactions share: they hold it when they ask for the row.
    await db.run("SELECT pg_advisory_xact_lock(uuid_hash_extended(:org_id, 1))", org_id=org_id)
    await db.rows("SELECT FROM orgs WHERE id = :org_id FOR UPDATE", org_id=org_id)


async def return_jobs(db: Transaction, org_id: UUID) -> int:
    """What runs goes back to the queue and is no attempt; its worker learns that the claim is gone."""
    rows = await db.rows(
        """
        WITH held AS MATERIALIZED (
          SELECT array_agg(j.id ORDER BY j.id) AS ids, array_agg(j.claim_token ORDER BY j.id) AS tokens, count(*)::int AS n FROM jobs j
           WHERE j.org_id = :org_id AND j.state = 'running' AND j.lease_until > clock_timestamp())
        SELECT s.team_id, s.pool FROM held h CROSS JOIN LATERAL settle_jobs(
                 :org_id, h.ids, h.tokens, array_fill('returned'::text, ARRAY[h.n]), array_fill(NULL::text, ARRAY[h.n]),
                 array_fill(NULL::text, ARRAY[h.n]), array_fill(NULL::interval, ARRAY[h.n])) s
         WHERE h.n > 0
        """,
        org_id=org_id,
    )
    for team_id, pool in {(row[0], row[1]) for row in rows}:
        await db.run(
            "INSERT INTO job_wakes (org_id, team_id, pool) VALUES (:org_id, :team_id, :pool)",
            org_id=org_id,
            team_id=team_id,
            pool=pool,
        )
    return len(rows)


async def mark_leaving(db: Transaction, org_id: UUID) -> None:
    await db.run(
        "UPDATE orgs SET moving_at = coalesce(moving_at, now()), suspended_at = coalesce(suspended_at, now()) WHERE id = :org_id",
        org_id=org_id,
    )
    # A transaction that looked before and waited for the lock looks again.
    await db.run("SELECT note_credential_ending()")


async def unmark(db: Transaction, org_id: UUID, suspended: bool) -> None:
    await db.run(
        "UPDATE orgs SET moving_at = NULL, suspended_at = CASE WHEN :suspended THEN suspended_at END WHERE id = :org_id",
        org_id=org_id,
        suspended=suspended,
    )


async def take_turns_anew(db: Transaction, org_id: UUID) -> None:
    """Places in the round are the instance's; a company that is new comes first, once."""
    await db.run("UPDATE job_lanes SET turn = 0 WHERE org_id = :org_id", org_id=org_id)


async def find_move(db: Transaction, org_id: UUID) -> Move | None:
    return await db.one(Move, f"SELECT {MOVE} FROM company_moves WHERE company = :org_id FOR UPDATE", org_id=org_id)


async def find_move_read(db: Transaction, org_id: UUID) -> Move | None:
    """The same in a transaction that only reads."""
    return await db.one(Move, f"SELECT {MOVE} FROM company_moves WHERE company = :org_id", org_id=org_id)


async def keep_move(
    db: Transaction, org_id: UUID, state: str, was_suspended: bool, archive: str | None, location: str | None
) -> datetime:
    found: datetime = await db.value(
        """
        INSERT INTO company_moves (company, state, was_suspended, archive, location)
        VALUES (:org_id, :state, :was_suspended, :archive, :location)
        ON CONFLICT (company) DO UPDATE SET state = excluded.state, was_suspended = excluded.was_suspended,
          archive = excluded.archive, location = excluded.location, changed_at = now()
        RETURNING changed_at
        """,
        org_id=org_id,
        state=state,
        was_suspended=was_suspended,
        archive=archive,
        location=location,
    )
    return found


async def forget_move(db: Transaction, org_id: UUID) -> None:
    await db.run("DELETE FROM company_moves WHERE company = :org_id", org_id=org_id)


async def list_blobs(db: Transaction, org_id: UUID) -> list[Blob]:
    return await db.all(Blob, "SELECT sha256, size FROM blobs WHERE org_id = :org_id ORDER BY sha256", org_id=org_id)


async def list_presented(db: Transaction, org_id: UUID) -> tuple[list[bytes], list[str], str | None]:
    """What the company's people present: digests of tokens, ids of access keys, the hostname."""
    tokens = await db.rows("SELECT digest FROM tokens WHERE org_id = :org_id", org_id=org_id)
    keys = await db.rows("SELECT access_key_id FROM s3_keys WHERE org_id = :org_id", org_id=org_id)
    domain: str | None = await db.value("SELECT domain FROM orgs WHERE id = :org_id", org_id=org_id)
    return [row[0] for row in tokens], [row[0] for row in keys], domain


async def remember_names(db: Transaction, org_id: UUID, digests: list[bytes], location: str) -> None:
    await db.run(
        """
        INSERT INTO moved_names (digest, moved_org, location) SELECT d, :org_id, :location FROM unnest(:digests::bytea[]) d
        ON CONFLICT (digest) DO UPDATE SET moved_org = excluded.moved_org, location = excluded.location
        """,
        org_id=org_id,
        digests=digests,
        location=location,
    )


async def forget_names(db: Transaction, org_id: UUID) -> None:
    """A company that came back is not elsewhere."""
    await db.run("DELETE FROM moved_names WHERE moved_org = :org_id", org_id=org_id)


async def list_taken_usernames(db: Transaction, lowered: list[str]) -> list[str]:
    rows = await db.rows(
        "SELECT lower(username) FROM users WHERE lower(username) = ANY(:lowered) ORDER BY 1", lowered=lowered
    )
    return [row[0] for row in rows]


async def is_taken(db: Transaction, slug: str) -> bool:
    return bool(await db.value("SELECT EXISTS (SELECT FROM orgs WHERE slug = :slug)", slug=slug))


async def is_host_taken(db: Transaction, domain: str) -> bool:
    return bool(await db.value("SELECT EXISTS (SELECT FROM orgs WHERE domain = :domain)", domain=domain))


async def list_known(db: Transaction, ids: list[UUID]) -> list[UUID]:
    """Which of these are a company, a team or a person here."""
    rows = await db.rows(
        """
        SELECT id FROM orgs WHERE id = ANY(:ids) UNION SELECT id FROM teams WHERE id = ANY(:ids)
         UNION SELECT id FROM users WHERE id = ANY(:ids) ORDER BY 1 LIMIT 10
        """,
        ids=ids,
    )
    return [row[0] for row in rows]


async def lock_arrival(db: Transaction, org_id: UUID) -> None:
    """One import of a company at a time, until this transaction ends."""
    await db.rows(
        "SELECT pg_advisory_xact_lock(hashtext('atrium company import'), hashtext(:org_id::uuid::text))", org_id=org_id
    )
