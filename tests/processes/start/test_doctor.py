"""`atrium doctor`, and the same for operators: what is wrong is named with a remedy, and one fault hides no other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atrium.admin.instance import doctor
from atrium.admin.instance.doctor import Patient
from atrium.admin.instance.model import HealthCheck
from atrium.boot.assemble import Application
from atrium.commands.doctor import _lines
from atrium.kit.postgres.server_health import ServerHealth, weaknesses_of
from atrium.seams.context import ANONYMOUS, Operation
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.processes import free_port, run_atrium, server_settings
from tests.support.servers import open_application, settings_for

WELL = ServerHealth(
    number=150_000, version="15.0", clock=0, autovacuum=True, most_connections=100, connections=5, oldest_transaction=0,
    without_wall=[], unanalyzed=[], weaknesses=[],
)  # fmt: skip

LATER = (
    "INSERT INTO schema_migrations (number, name, checksum) SELECT max(number) + 1, 'later', 'x' FROM schema_migrations"
)


async def checkup(url: str, data: Path, code: int, **settings: Any) -> dict[str, dict[str, str]]:
    """Every check by name."""
    ended = await run_atrium("doctor", "--json", **server_settings(url, data_dir=data, **settings))
    assert ended.code == code, ended.output
    return {check["name"]: check for check in json.loads(ended.output[ended.output.index("{") :])["checks"]}


def failing(checks: dict[str, dict[str, str]]) -> set[str]:
    return {name for name, check in checks.items() if check["verdict"] == "fail"}


async def test_a_sound_instance_is_well_and_each_fault_is_named_with_its_remedy(tmp_path: Path) -> None:
    async with fresh_database() as url:
        async with open_application(settings_for(url, data_dir=tmp_path, embed_worker=True)):
            well = await checkup(url, tmp_path, 0, base_url="https://atrium.example")

        assert set(well) == set(doctor.NAMES)
        assert len(well) >= 12
        assert not failing(well)
        assert all(check["remedy"] == "" for check in well.values() if check["verdict"] == "ok")

        await run_as_owner(url, "ALTER TABLE notes NO FORCE ROW LEVEL SECURITY")
        await run_as_owner(url, LATER)
        spoiled = tmp_path / "spoiled"
        spoiled.mkdir()
        (spoiled / "blobs").write_text("a file where the folder has to be")
        ill = await checkup(
            url, spoiled, 1, base_url="http://atrium.example", secret_key="another key that nothing here was ever sealed with",
            local_model_url=f"http://127.0.0.1:{free_port()}/v1", basse_url="x",
        )  # fmt: skip

    assert failing(ill) == {"walls", "schema", "key", "blobs", "address", "models"}
    assert "notes" in ill["walls"]["found"]
    assert "SERVICE_BASSE_URL" in ill["settings"]["found"]
    assert all(check["remedy"] for check in ill.values() if check["verdict"] != "ok")


async def test_without_its_database_it_still_says_what_it_can(tmp_path: Path) -> None:
    checks = await checkup(f"postgres://root@127.0.0.1:{free_port()}/none", tmp_path, 1)

    assert failing(checks) == {"database"}
    assert set(checks) == set(doctor.NAMES)
    assert checks["blobs"]["verdict"] == "ok"
    assert "not looked at" in checks["schema"]["found"]
    assert not list(tmp_path.glob("secret.key")), "looking must not make a key"


async def test_operators_see_the_same_in_the_console(operator: Client, house: Application) -> None:
    plain = await operator.get("/api/admin/status")
    full = await operator.get("/api/admin/status?checks=true")

    assert "checks" not in plain.body
    assert [check["name"] for check in full["checks"]] == list(doctor.NAMES)
    assert {check["name"] for check in full["checks"] if check["verdict"] == "fail"} <= {"workers", "jobs"}


async def test_jobs_that_wait_without_a_worker_are_noticed(operator: Client, database_url: str) -> None:
    job = await operator.post("/api/jobs", {"kind": "x.integrator-demo.lane-report", "input": {"lane": "AMS-LIS"}})
    assert job.status in (201, 202), job.raw
    await run_as_owner(database_url, f"UPDATE jobs SET run_at = now() - interval '2 hours' WHERE id = '{job['id']}'")

    checks = {check["name"]: check for check in (await operator.get("/api/admin/status?checks=true"))["checks"]}

    await operator.post(f"/api/jobs/{job['id']}/cancel")
    assert checks["jobs"]["verdict"] == "fail"
    assert checks["workers"]["verdict"] == "fail"


@pytest.mark.parametrize(
    ("look", "server", "skew", "verdict"),
    [
        (doctor._version, {}, 0, "ok"),
        (doctor._version, {"number": 130_012}, 0, "fail"),
        (doctor._role, {"weaknesses": ["the role atrium_app owns tables"]}, 0, "fail"),
        (doctor._walls, {"without_wall": ["notes"]}, 0, "fail"),
        (doctor._clock, {}, 1.0, "ok"),
        (doctor._clock, {}, -5.0, "warn"),
        (doctor._clock, {}, 7200.0, "fail"),
        (doctor._connections, {"connections": 79}, 0, "ok"),
        (doctor._connections, {"connections": 80}, 0, "warn"),
        (doctor._connections, {"connections": 100}, 0, "fail"),
        (doctor._transactions, {"oldest_transaction": 299.0}, 0, "ok"),
        (doctor._transactions, {"oldest_transaction": 301.0}, 0, "warn"),
        (doctor._transactions, {"oldest_transaction": 3601.0}, 0, "fail"),
        (doctor._statistics, {"autovacuum": False}, 0, "fail"),
        (doctor._statistics, {"unanalyzed": ["notes"]}, 0, "warn"),
    ],
)
async def test_what_postgresql_says_of_itself_is_judged(
    house: Application, look: Any, server: dict[str, Any], skew: float, verdict: str
) -> None:
    op = Operation(who=ANONYMOUS, services=house.services)

    found = await look(Patient(op, replace(WELL, **server), 0.01, skew))

    assert found[0] == verdict
    assert bool(found[2]) == (verdict != "ok")


def test_people_read_each_check_on_a_line_and_the_remedy_below_it() -> None:
    checks = [
        HealthCheck("disk", "ok", "5 GB free", ""),
        HealthCheck("database", "fail", "does not answer", "Start PostgreSQL."),
    ]

    assert list(_lines(checks)) == [
        "ok    disk      5 GB free",
        "FAIL  database  does not answer",
        "                Start PostgreSQL.",
        "2 checks, 1 failed, 0 to look at",
    ]


def test_a_role_that_row_level_security_does_not_hold_is_weak() -> None:
    assert weaknesses_of((False, False)) == []
    assert "bypasses row-level security" in weaknesses_of((True, False))[0]
    assert "owns tables" in weaknesses_of((False, True))[0]
    assert "does not exist" in weaknesses_of(None)[0]
