"""One worker of one engine, going through runs of ten empty steps; run by bench_runs with the interpreter that has the engine installed.

python benchmarks/run_workers.py <engine> <database url> <runs>
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.worker import Drain, main

STEPS, BATCH = 10, 50


async def bare(url: str, runs: int) -> Drain:
    """The rows that ours writes, and nothing else: per step a job queued, claimed and ended, a step entered and ended, a run advanced."""
    import asyncpg

    connections = [await asyncpg.connect(url) for _ in range(2)]
    await connections[0].execute(
        """
        CREATE TABLE bare_runs (id uuid PRIMARY KEY, state text NOT NULL DEFAULT 'running', used int NOT NULL DEFAULT 0);
        CREATE TABLE bare_steps (run uuid NOT NULL, step int NOT NULL, state text NOT NULL DEFAULT 'open', input jsonb, output jsonb,
                                 PRIMARY KEY (run, step));
        CREATE TABLE bare_jobs (id uuid PRIMARY KEY, state text NOT NULL DEFAULT 'queued', input jsonb, result jsonb);
        """
    )
    await connections[0].execute("INSERT INTO bare_runs SELECT gen_random_uuid() FROM generate_series(1, $1)", runs)
    ids = [row["id"] for row in await connections[0].fetch("SELECT id FROM bare_runs")]
    await connections[0].execute("VACUUM ANALYZE bare_runs")

    async def go_through(connection: Any, some: list[Any]) -> None:
        jobs: list[Any] = []
        for step in range(STEPS + 1):
            async with connection.transaction():
                if step:
                    await connection.execute(
                        "UPDATE bare_jobs SET state = 'done', result = '{}' WHERE id = ANY($1)", jobs
                    )
                    await connection.execute(
                        "UPDATE bare_steps SET state = 'done', output = '{}' WHERE run = ANY($1) AND step = $2",
                        some,
                        step - 1,
                    )
                await connection.execute(
                    "UPDATE bare_runs SET used = $2::int, state = CASE WHEN $2::int = $3 THEN 'done' ELSE state END WHERE id = ANY($1)",
                    some, step, STEPS,
                )  # fmt: skip
                if step < STEPS:
                    rows = await connection.fetch(
                        "INSERT INTO bare_jobs (id, input) SELECT gen_random_uuid(), '{}' FROM unnest($1::uuid[]) RETURNING id", some
                    )  # fmt: skip
                    jobs = [row["id"] for row in rows]
                    await connection.execute(
                        "INSERT INTO bare_steps (run, step, input) SELECT r, $2, '{}' FROM unnest($1::uuid[]) r",
                        some,
                        step,
                    )
            if step < STEPS:
                await connection.execute("UPDATE bare_jobs SET state = 'running' WHERE id = ANY($1)", jobs)

    async def drain() -> None:
        batches = [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]

        async def loop(connection: Any) -> None:
            while batches:
                await go_through(connection, batches.pop())

        await asyncio.gather(*map(loop, connections))

    return drain


async def atrium(url: str, runs: int) -> Drain:
    """Ours: caps, turns, leases, tokens, row-level security, rights of now, schemas, sizes, receipts."""
    from atrium.boot.assemble import assemble
    from atrium.boot.wiring import DOMAINS
    from atrium.engine.jobs.runner import Runner
    from atrium.kit.postgres.migrate import migrate
    from atrium.seams.settings import Settings
    from atrium.seams.tools import Tool
    from atrium.seams.wiring import Domain
    from tests.postgres import run_as_owner
    from tests.support.people import found_company

    async def nothing(ctx: Any, arguments: Any) -> dict[str, bool]:
        return {"done": True}

    await migrate(url)
    tool = Tool(
        name="bench_nothing",
        description="Nothing.",
        permission="notes:read",
        effect="read",
        untrusted=False,
        act=nothing,
    )
    settings = Settings(
        database_url=url, secret_key="a key for benchmarks that is long enough", data_dir=Path("/tmp"), access_log=False,
        rate_per_credential=1_000_000, embed_worker=False,
    )  # fmt: skip
    server = assemble(settings, domains=(*DOMAINS, Domain("bench", tools=(tool,))))
    await server.app.on_start()
    admins = []
    for _ in range(4):
        company = await found_company(server)
        admin = await company.join("admin")
        reply = await admin.post("/api/workflows", spec("bench_nothing"))
        assert reply.status == 201, reply.raw
        admins.append(admin)
    await run_as_owner(url, "UPDATE job_teams SET cap = 1000")
    for number in range(runs):
        reply = await admins[number % 4].post("/api/workflows/ten/run", {})
        assert reply.status == 202, reply.raw
    for table in ("jobs", "runs", "run_steps", "job_lanes", "job_teams", "job_wakes"):
        await run_as_owner(url, f"VACUUM ANALYZE {table}")

    async def drain() -> None:
        runner = Runner(server.services, 8 * BATCH)
        runner.start()
        done = server.services.metrics.jobs.labels("workflows.step", "succeeded")
        while done._value.get() < runs * STEPS:
            await asyncio.sleep(0.02)
        await runner.stop(5)

    return drain


def spec(tool: str) -> dict[str, Any]:
    """Ten steps that do nothing."""
    steps = [{"name": f"s{n}", "kind": "tool", "tool": tool} for n in range(STEPS)]
    return {"slug": "ten", "start": "s0", "max_steps": STEPS, "steps": steps}


async def dbos(url: str, runs: int) -> Drain:
    """DBOS: a workflow of ten `@step`s."""
    from dbos import DBOS

    @DBOS.step(name="nothing")
    async def nothing() -> dict[str, bool]:
        return {"done": True}

    @DBOS.workflow(name="ten")
    async def ten() -> None:
        for _ in range(STEPS):
            await nothing()

    seeding = [sys.executable, __file__, "dbos-seed", url, str(runs)]
    subprocess.run(seeding, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})

    async def drain() -> None:
        DBOS.launch()
        while await DBOS.list_queued_workflows_async(queue_name="bench", limit=1):
            await asyncio.sleep(0.05)

    return drain


async def dbos_seed(url: str, runs: int) -> Drain:
    """Queues for the worker above, from a process of its own that listens to another queue: a launched one works at once."""
    from dbos import DBOS, DBOSClient

    DBOS(config={"name": "bench", "system_database_url": url, "run_admin_server": False, "log_level": "ERROR"})
    DBOS.listen_queues(["another"])
    DBOS.launch()
    await DBOS.register_queue_async("bench", worker_concurrency=BATCH, polling_interval_sec=0.05)
    client = DBOSClient(system_database_url=url)
    for _ in range(runs):
        await client.enqueue_async({"queue_name": "bench", "workflow_name": "ten"})

    async def drain() -> None:
        """Nothing to drain here."""

    return drain


async def restate(url: str, runs: int) -> Drain:
    """Restate: a handler of ten `ctx.run`s; its server, which keeps its own log and needs no PostgreSQL, is a child and counted with it."""
    import httpx
    import hypercorn.asyncio
    import hypercorn.config
    import restate as sdk

    service = sdk.Service("bench")

    @service.handler("ten")
    async def ten(ctx: Any, given: Any) -> None:
        for n in range(STEPS):
            await ctx.run_typed(f"s{n}", lambda: {"done": True})

    settings = hypercorn.config.Config()
    settings.bind = ["127.0.0.1:19080"]
    serving = asyncio.create_task(hypercorn.asyncio.serve(sdk.app([service]), settings))
    server = subprocess.Popen(
        [os.environ["RESTATE_SERVER"], "--base-dir", os.environ["RESTATE_FOLDER"]], stdout=subprocess.DEVNULL
    )
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        for _ in range(200):
            try:
                answer = await client.post("http://127.0.0.1:9070/deployments", json={"uri": "http://127.0.0.1:19080"})
            except httpx.TransportError:
                await asyncio.sleep(0.1)
                continue
            assert answer.status_code in (200, 201), answer.text
            break

    async def drain() -> None:
        limits = httpx.Limits(max_connections=BATCH)
        async with httpx.AsyncClient(timeout=120, trust_env=False, limits=limits) as client:
            left = iter(range(runs))

            async def ask() -> None:
                for _ in left:
                    answer = await client.post("http://127.0.0.1:8080/bench/ten", json={})
                    assert answer.status_code == 200, answer.text

            await asyncio.gather(*(ask() for _ in range(BATCH)))
        serving.cancel()
        server.terminate()
        server.wait()

    return drain


ENGINES = {"bare": bare, "atrium": atrium, "dbos": dbos, "dbos-seed": dbos_seed, "restate": restate}


if __name__ == "__main__":
    main(ENGINES)
