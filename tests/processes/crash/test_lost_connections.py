"""PostgreSQL drops every connection under load: nothing acknowledged is lost, and the server is back at once."""

import asyncio

from tests.postgres import fresh_database, run_as_owner
from tests.support.load import Promises, broken_promises, chance, write_from_all_sides
from tests.support.patience import PATIENCE
from tests.support.processes import bootstrap, private_postgres, rounds, serving

TERMINATE = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


async def test_lost_connections_lose_nothing_and_answer_503_or_work() -> None:
    promises, moments = Promises(), chance()
    async with fresh_database() as url, serving(url) as (server,):
        token = await bootstrap(server)
        writers = write_from_all_sides(server, token, "note", promises)
        terminated = 0
        for _ in rounds(2, 100):
            await asyncio.sleep(moments.uniform(0.02, 0.2))
            terminated += (await run_as_owner(url, TERMINATE))[0][0]
            before = promises.statuses[201]
            async with asyncio.timeout(PATIENCE):
                while promises.statuses[201] == before:
                    await asyncio.sleep(0.01)
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
        code = await server.stop()

        assert terminated > 1
        assert set(promises.statuses) <= {201, 503}
        assert promises.statuses[503] > 0
        assert await broken_promises(url, promises) == []
        assert code == 0


async def test_a_server_whose_connections_were_all_lost_is_ready_again_at_the_next_request() -> None:
    async with fresh_database() as url, serving(url) as (server,), server.client() as client:
        for _ in range(5):
            await run_as_owner(url, TERMINATE)

            answers = [(await client.get("/ready")).status_code for _ in range(3)]

            assert answers[-1] == 200
            assert set(answers) <= {200, 503}


async def test_a_server_without_postgresql_answers_503_and_serves_again_when_it_is_back() -> None:
    with private_postgres() as postgres:
        async with serving(postgres.url) as (server,), server.client(await bootstrap(server)) as client:
            await postgres.crash()

            away = [(await client.get(path)).status_code for path in ("/ready", "/api/notes", "/api/jobs")]
            await postgres.recover()
            back = [(await client.get(path)).status_code for path in ("/ready", "/api/notes", "/api/jobs")]

    assert away == [503, 503, 503]
    assert back == [200, 200, 200]
