"""The doctor: looks at everything an instance depends on, and says what was found and what to do about it."""

import asyncio
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from atrium.admin.instance import service
from atrium.admin.instance.model import CheckName, HealthCheck, Status, Verdict
from atrium.engine.executors import service as executors
from atrium.engine.jobs import service as jobs
from atrium.ground.audit import service as audit
from atrium.kit.ids import NIL
from atrium.kit.postgres.migrate import list_pending
from atrium.kit.postgres.server_health import ServerHealth, look_at_server
from atrium.kit.refusals import CommandError
from atrium.seams.context import Operation
from atrium.seams.settings import unknown_names

PATIENCE = 10
OLDEST_POSTGRES = 140_000
SKEW_WARNS, SKEW_FAILS = 2.0, 30.0
SPACE_WARNS, SPACE_FAILS = 5 << 30, 512 << 20
WAIT_WARNS, WAIT_FAILS = 60.0, 900.0
UNSEALED_WARNS, UNSEALED_FAILS = 120.0, 3600.0
TRANSACTION_WARNS, TRANSACTION_FAILS = 300.0, 3600.0
CROWDED = 0.8


@dataclass(frozen=True, slots=True)
class Patient:
    """The instance, and what PostgreSQL said about itself; `skew` is how far its clock is ahead of this machine's."""

    op: Operation
    server: ServerHealth
    answered_in: float
    skew: float


Finding = tuple[Verdict, str, str]
Look = Callable[[Operation], Awaitable[Finding]]
LookInside = Callable[[Patient], Awaitable[Finding]]


async def examine(op: Operation) -> list[HealthCheck]:
    """Every check, in the order of what depends on what; one that cannot be made says so and stops no other."""
    found = [await _attempt(name, look(op)) for name, look in _CHECKS]
    began = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE):
            server = await look_at_server(op.services.settings.database_url)
    except Exception as error:  # whatever keeps us from the database is what was found
        found.append(HealthCheck("database", "fail", f"does not answer: {_said(error)}", _REACH))
        return found + [
            HealthCheck(name, "warn", "not looked at: the database does not answer", _REACH)
            for name, _ in _CHECKS_INSIDE
        ]
    took = time.perf_counter() - began
    patient = Patient(op, server, took, server.clock - (time.time() - took / 2))
    found.append(HealthCheck("database", "ok", f"PostgreSQL {server.version} answers in {took * 1000:.0f} ms", ""))
    return found + [await _attempt(name, look(patient)) for name, look in _CHECKS_INSIDE]


async def read_status(op: Operation, tls: bool, checks: bool) -> Status:
    """The instance at a glance, with every check when they are asked for."""
    status = await service.read_status(op, tls)
    return replace(status, checks=await examine(op)) if checks else status


async def _attempt(name: CheckName, looking: Awaitable[Finding]) -> HealthCheck:
    try:
        async with asyncio.timeout(PATIENCE):
            return HealthCheck(name, *await looking)
    except Exception as error:  # a check is the boundary: the others go on
        return HealthCheck(name, "fail", f"could not be looked at: {_said(error)}", "Look at the server's log.")


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


_REACH = "Start PostgreSQL, and look at SERVICE_DATABASE_URL: host, port, login and database."


def _ok(found: str) -> Finding:
    return "ok", found, ""


def _judged(value: float, warns: float, fails: float) -> Verdict:
    return "fail" if value >= fails else "warn" if value >= warns else "ok"


def _by(verdict: Verdict, found: str, remedy: str) -> Finding:
    return verdict, found, "" if verdict == "ok" else remedy


async def _settings(op: Operation) -> Finding:
    if strays := unknown_names():
        return "warn", "; ".join(strays), "Correct or unset these variables; `atrium settings` lists all there are."
    return _ok("every SERVICE_ variable is a setting")


async def _address(op: Operation) -> Finding:
    url = op.services.settings.base_url
    local = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
    if not url:
        remedy = "Set SERVICE_BASE_URL to the address people use, so that links are right wherever they are made."
        return "warn", "SERVICE_BASE_URL is empty: links are made from each request's own address", remedy
    if url.startswith("http://") and not local:
        remedy = "Put TLS in front, or set SERVICE_TLS_CERTIFICATE and SERVICE_TLS_KEY; then begin the address with https://."
        return "fail", f"people are sent to {url}: passwords travel unprotected", remedy
    return _ok(f"people reach this server at {url}")


async def _disk(op: Operation) -> Finding:
    folder = op.services.settings.data_dir.resolve()
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    usage = shutil.disk_usage(nearest)
    verdict: Verdict = "fail" if usage.free < SPACE_FAILS else "warn" if usage.free < SPACE_WARNS else "ok"
    found = f"{usage.free / 1e9:.1f} of {usage.total / 1e9:.1f} GB free in {folder}"
    return _by(verdict, found, "Free or add disk: uploads arrive in this folder, and stop when it is full.")


async def _bytes(op: Operation) -> Finding:
    """Write a few bytes, read them back and delete them."""
    blobs, name = op.services.blobs, op.services.settings.blob_store
    content = os.urandom(64)
    digest = hashlib.sha256(content).digest()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "probe"
        staged.write_bytes(content)
        try:
            await blobs.put(NIL, digest, staged)
            async with aclosing(blobs.get(NIL, digest)) as pieces:
                read = b"".join([piece async for piece in pieces])
            await blobs.delete(NIL, digest)
        except Exception as error:  # a store is a plugin's and may raise anything
            remedy = "Look at the store's settings (SERVICE_BLOB_STORE, SERVICE_BLOB_S3_BUCKET), its rights and its free space."
            return "fail", f"the blob store {name} failed: {_said(error)}", remedy
    if read != content:
        remedy = "Stop writing, and run `atrium blobs verify`: the store gives back other bytes than it was given."
        return "fail", f"the blob store {name} gave back other bytes", remedy
    return _ok(f"the blob store {name} kept and gave back 64 bytes in {(time.perf_counter() - began) * 1000:.0f} ms")


async def _plugins(op: Operation) -> Finding:
    registry = op.services.registry
    if failed := registry.failed_plugins:
        found = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        return "warn", found, "Mend or remove these plugins, and start the server again."
    return _ok(f"{len(registry.plugins)} plugins are loaded")


async def _sandbox(op: Operation) -> Finding:
    if reason := await op.services.sandbox.reason():
        remedy = "Install bubblewrap and libseccomp2, and allow unprivileged user namespaces; docs/guides/guests.md has the options."
        return "warn", f"documents are read without a sandbox: {reason}", remedy
    return _ok("documents and guests run in a sandbox")


async def _version(patient: Patient) -> Finding:
    server = patient.server
    verdict: Verdict = "ok" if server.number >= OLDEST_POSTGRES else "fail"
    return _by(verdict, f"PostgreSQL {server.version}", "Upgrade to PostgreSQL 14 or newer.")


async def _schema(patient: Patient) -> Finding:
    try:
        missing = await list_pending(patient.op.services.settings.database_url)
    except CommandError as refusal:
        return "fail", str(refusal), "Use the program that migrated this database, or a newer one."
    if missing:
        return "fail", f"{len(missing)} migrations are pending, the first is {missing[0]}", "Run `atrium migrate`."
    return _ok("at head")


async def _role(patient: Patient) -> Finding:
    if found := patient.server.weaknesses:
        remedy = "ALTER ROLE atrium_app NOSUPERUSER NOBYPASSRLS, and give what it owns to the login that migrates."
        return "fail", "; ".join(found), remedy
    return _ok("atrium_app owns nothing and is held by row-level security")


async def _walls(patient: Patient) -> Finding:
    if found := patient.server.without_wall:
        remedy = "ALTER TABLE … ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY for each, at once."
        return "fail", f"row-level security is not forced on {', '.join(found)}", remedy
    return _ok("row-level security is forced on every company's tables")


async def _key(patient: Patient) -> Finding:
    services = patient.op.services
    try:
        await service.require_key(services.database, services.keys)
    except CommandError as refusal:
        return "fail", str(refusal), "Put the key back that this database was first served with."
    return _ok("opens what is sealed")


async def _clock(patient: Patient) -> Finding:
    off = abs(patient.skew)
    verdict = _judged(off, SKEW_WARNS, SKEW_FAILS)
    found = f"this machine and PostgreSQL are {off:.1f} s apart"
    return _by(verdict, found, "Run a time service (chrony, systemd-timesyncd) on both machines.")


async def _connections(patient: Patient) -> Finding:
    used, most = patient.server.connections, patient.server.most_connections
    verdict: Verdict = "fail" if used >= most else "warn" if used >= most * CROWDED else "ok"
    remedy = (
        "Lower SERVICE_DATABASE_POOL or the number of processes, put PgBouncer in between, or raise max_connections."
    )
    return _by(verdict, f"{used} of {most} connections are in use", remedy)


async def _transactions(patient: Patient) -> Finding:
    oldest = patient.server.oldest_transaction
    verdict = _judged(oldest, TRANSACTION_WARNS, TRANSACTION_FAILS)
    remedy = "Find it in pg_stat_activity (order by xact_start) and end it: until then nothing that was deleted is cleaned up."
    return _by(verdict, f"the oldest open transaction began {oldest:.0f} s ago", remedy)


async def _statistics(patient: Patient) -> Finding:
    server = patient.server
    if not server.autovacuum:
        return "fail", "autovacuum is off", "Set autovacuum = on in postgresql.conf, and reload it."
    if server.unanalyzed:
        found = f"statistics are missing or old for {', '.join(server.unanalyzed)}"
        return "warn", found, "Run ANALYZE once; if it comes back, let autovacuum run more often."
    return _ok("autovacuum is on, and every large table has been analyzed")


async def _jobs(patient: Patient) -> Finding:
    backlog = await jobs.read_backlog(patient.op.services.database)
    verdict = _judged(backlog.oldest_seconds, WAIT_WARNS, WAIT_FAILS)
    found = f"{backlog.queued} jobs wait, the oldest that could run for {backlog.oldest_seconds:.0f} s"
    return _by(verdict, found, "Start more `atrium work` processes, or raise SERVICE_WORKER_CONCURRENCY.")


async def _workers(patient: Patient) -> Finding:
    backlog = await jobs.read_backlog(patient.op.services.database)
    here = {kind.name for kind in patient.op.services.registry.job_kinds.values() if not kind.claimable}
    unserved = sorted(here - set(backlog.served))
    if unserved:
        remedy = "Start `atrium work`, or set SERVICE_EMBED_WORKER=1 for one process."
        return "fail" if backlog.queued else "warn", f"no worker was seen for {', '.join(unserved)}", remedy
    return _ok(f"{backlog.workers} workers were seen within a minute")


async def _executors(patient: Patient) -> Finding:
    silent = [one.name for one in await executors.list_all(patient.op) if one.id and one.healthy is False]
    if silent:
        return "warn", f"these machines are silent: {', '.join(silent)}", "Start them again, or retire them."
    return _ok("every machine that teams added is there")


async def _models(patient: Patient) -> Finding:
    found = await executors.look_at_configured(patient.op.services)
    if not found:
        remedy = "Set SERVICE_LOCAL_MODEL_URL to a model server, such as llama.cpp's, for answers that mean something."
        return "warn", "no model is set: answers are simulated", remedy
    if silent := sorted(name for name, up in found.items() if not up):
        remedy = "Start them, and look at SERVICE_LOCAL_MODEL_URL, SERVICE_PUSH_EXECUTORS and their keys."
        return "fail", f"these models do not answer: {', '.join(silent)}", remedy
    return _ok(f"{', '.join(sorted(found))} answer")


async def _audit(patient: Patient) -> Finding:
    oldest = await audit.read_oldest_unsealed(patient.op.services.database)
    verdict = _judged(oldest, UNSEALED_WARNS, UNSEALED_FAILS)
    remedy = "A serving process seals every ten seconds: see that one runs, and what its log says of audit.seal."
    return _by(verdict, f"the oldest event without its place in a chain is {oldest:.0f} s old", remedy)


_CHECKS: tuple[tuple[CheckName, Look], ...] = (
    ("settings", _settings),
    ("address", _address),
    ("disk", _disk),
    ("blobs", _bytes),
    ("plugins", _plugins),
    ("sandbox", _sandbox),
)
_CHECKS_INSIDE: tuple[tuple[CheckName, LookInside], ...] = (
    ("postgres_version", _version),
    ("schema", _schema),
    ("role", _role),
    ("walls", _walls),
    ("key", _key),
    ("clock", _clock),
    ("connections", _connections),
    ("transactions", _transactions),
    ("statistics", _statistics),
    ("jobs", _jobs),
    ("workers", _workers),
    ("executors", _executors),
    ("models", _models),
    ("audit", _audit),
)
NAMES = (*(name for name, _ in _CHECKS), "database", *(name for name, _ in _CHECKS_INSIDE))
