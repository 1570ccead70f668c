"""One worker of one queue, draining jobs that do nothing; run by bench_queue with the interpreter that has the queue installed.

python benchmarks/queue_workers.py <queue> <database url> <jobs>
"""

import asyncio
import json
import subprocess
import sys
from typing import Any

from benchmarks.worker import Drain, main

BATCH = 50


async def bare(url: str, jobs: int) -> Drain:
    """The least a queue on PostgreSQL can do: SKIP LOCKED, in batches, with no rule of any domain."""
    import asyncpg

    connections = [await asyncpg.connect(url) for _ in range(2)]
    await connections[0].execute(
        """
        CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text NOT NULL DEFAULT 'queued', args jsonb NOT NULL,
                           result jsonb, started_at timestamptz, finished_at timestamptz);
        CREATE INDEX ON bare (id) WHERE state = 'queued'
        """
    )
    await connections[0].execute("INSERT INTO bare (args) SELECT '{}' FROM generate_series(1, $1)", jobs)
    await connections[0].execute("VACUUM ANALYZE bare")

    async def loop(connection: Any) -> None:
        while True:
            claimed = await connection.fetch(
                """
                UPDATE bare SET state = 'running', started_at = now() WHERE id IN (
                  SELECT id FROM bare WHERE state = 'queued' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, args
                """,
                BATCH,
            )
            if not claimed:
                return
            results = await asyncio.gather(*(_nothing() for _ in claimed))
            await connection.execute(
                """
                UPDATE bare b SET state = 'succeeded', finished_at = now(), result = r.result::jsonb
                  FROM unnest($1::bigint[], $2::text[]) AS r (id, result) WHERE b.id = r.id
                """,
                [row["id"] for row in claimed],
                [json.dumps(result) for result in results],
            )

    async def drain() -> None:
        await asyncio.gather(*map(loop, connections))

    return drain


async def _nothing() -> dict[str, bool]:
    return {"done": True}


async def atrium(url: str, jobs: int) -> Drain:
    """Ours, with every rule: caps, turns, leases, tokens, row-level security, owners."""
    from pathlib import Path

    from atrium.boot.assemble import assemble
    from atrium.boot.wiring import DOMAINS
    from atrium.engine.jobs import service
    from atrium.engine.jobs.runner import Runner
    from atrium.kit.postgres.migrate import migrate
    from atrium.seams.jobs import JobKind
    from atrium.seams.settings import Settings
    from atrium.seams.wiring import Domain
    from tests.support.queue import Queue

    async def run(op: Any, job: Any) -> dict[str, bool]:
        return await _nothing()

    await migrate(url)
    kind = JobKind(name="bench.nothing", description="Nothing.", run=run)
    settings = Settings(database_url=url, secret_key="a key for benchmarks that is long enough", data_dir=Path("/tmp"))
    house = assemble(settings, domains=(*DOMAINS, Domain("bench", job_kinds=(kind,))))
    await house.app.on_start()
    queue, members = Queue(house), []
    for _ in range(4):
        first = await queue.company()
        members += [first, *[await queue.member(first.company) for _ in range(4)]]
    await queue.sql("UPDATE job_teams SET cap = 1000")
    for member in members:
        async with member.op.begin() as ctx:
            await service.enqueue(ctx, "bench.nothing", [{}] * (jobs // len(members)))
    for table in ("jobs", "job_lanes", "job_teams", "job_wakes"):
        await queue.sql(f"VACUUM ANALYZE {table}")

    async def drain() -> None:
        runner = Runner(house.services, 8 * BATCH)
        runner.start()
        done = house.services.metrics.jobs.labels("bench.nothing", "succeeded")
        while done._value.get() < jobs // len(members) * len(members):
            await asyncio.sleep(0.02)
        await runner.stop(5)

    return drain


async def procrastinate(url: str, jobs: int) -> Drain:
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=url, max_size=10))
    await app.open_async()
    await app.schema_manager.apply_schema_async()

    @app.task(name="nothing")
    async def nothing() -> dict[str, bool]:
        return await _nothing()

    await nothing.batch_defer_async(*({} for _ in range(jobs)))

    async def drain() -> None:
        await app.run_worker_async(concurrency=BATCH, wait=False, install_signal_handlers=False)

    return drain


async def pgqueuer(url: str, jobs: int) -> Drain:
    from datetime import timedelta

    import asyncpg
    from pgqueuer import PgQueuer, Queries
    from pgqueuer.types import QueueExecutionMode

    pool = await asyncpg.create_pool(url, min_size=4, max_size=10)
    queries = Queries.from_asyncpg_pool(pool)
    await queries.install()
    await queries.enqueue(["nothing"] * jobs, [None] * jobs, [0] * jobs)
    app = PgQueuer.from_asyncpg_pool(pool)

    @app.entrypoint("nothing")
    async def nothing(job: Any) -> None:
        await _nothing()

    async def drain() -> None:
        await app.run(
            mode=QueueExecutionMode.drain,
            batch_size=BATCH,
            max_concurrent_tasks=4 * BATCH,
            dequeue_timeout=timedelta(seconds=1),
        )

    return drain


async def dbos(url: str, jobs: int) -> Drain:
    from dbos import DBOS

    @DBOS.workflow(name="nothing")
    async def nothing() -> dict[str, bool]:
        return await _nothing()

    seeding = [sys.executable, __file__, "dbos-seed", url, str(jobs)]
    subprocess.run(seeding, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})

    async def drain() -> None:
        DBOS.launch()
        while await DBOS.list_queued_workflows_async(queue_name="bench", limit=1):
            await asyncio.sleep(0.05)

    return drain


async def dbos_seed(url: str, jobs: int) -> Drain:
    """Queues for the worker above, from a process of its own that listens to another queue: a launched one works at once."""
    from dbos import DBOS, DBOSClient

    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})
    DBOS.listen_queues(["another"])
    DBOS.launch()
    await DBOS.register_queue_async("bench", worker_concurrency=BATCH, polling_interval_sec=0.05)
    client = DBOSClient(system_database_url=url)
    for _ in range(jobs):
        await client.enqueue_async({"queue_name": "bench", "workflow_name": "nothing"})

    async def drain() -> None:
        """Nothing to drain here."""

    return drain


QUEUES = {
    "bare": bare,
    "atrium": atrium,
    "procrastinate": procrastinate,
    "pgqueuer": pgqueuer,
    "dbos": dbos,
    "dbos-seed": dbos_seed,
}


if __name__ == "__main__":
    main(QUEUES)
