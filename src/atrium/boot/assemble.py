"""The composition root: the only place where long-lived things are made and joined."""

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from atrium.admin.instance import service as instance
from atrium.admin.plugins import service as plugins
from atrium.boot.checks import handlers_of, problems
from atrium.boot.chore_loop import Housekeeping
from atrium.boot.wiring import DOMAINS
from atrium.edge import openapi, reference
from atrium.edge.app import App
from atrium.edge.credential_watch import CredentialWatcher
from atrium.edge.endpoint import Endpoint, bind, bind_plugin
from atrium.kit.crypto.keys import Keyring, read_secret
from atrium.kit.crypto.passwords import Passwords
from atrium.kit.files.staging_area import StagingArea
from atrium.kit.isolation.sandbox import Sandbox
from atrium.kit.postgres.combiner import Combiner
from atrium.kit.postgres.database import Database
from atrium.kit.postgres.notify import Notifier
from atrium.kit.postgres.wait_queues import WaitQueues
from atrium.kit.refusals import CommandError
from atrium.kit.telemetry.log import report_of_loop
from atrium.kit.telemetry.metrics import Metrics
from atrium.kit.telemetry.traces import Telemetry
from atrium.kit.text.estimates import TokenRatios
from atrium.kit.web.outbound import Outbound
from atrium.kit.work.background import Background
from atrium.kit.work.compute import ComputePool
from atrium.kit.work.shares import Capacity
from atrium.kit.work.threads import Threads
from atrium.routes import ROUTES
from atrium.seams.blobs import BlobStore, close_store
from atrium.seams.context import ProcessState, Services
from atrium.seams.routes import Route
from atrium.seams.settings import Settings
from atrium.seams.wiring import Domain, Registry


class BootRefused(CommandError):
    """Boot checks failed."""


@dataclass(frozen=True, slots=True)
class Application:
    """Everything assembled; `services.database` is closed until the app starts."""

    app: App
    endpoints: list[Endpoint]
    services: Services


def assemble(
    settings: Settings,
    routes: tuple[Route, ...] = ROUTES,
    domains: tuple[Domain, ...] = DOMAINS,
    telemetry: Telemetry | None = None,
) -> Application:
    """Check everything, then join it; on any disagreement refuse with every one of them."""
    registry = register(settings, domains)
    endpoints = [one for one in endpoints_of(routes, domains, registry) if settings.mcp or one.route.protocol != "MCP"]
    registry.openapi = msgspec.json.encode(openapi.document(endpoints))
    registry.reference, registry.reference_policy = reference.page(endpoints), reference.policy()
    notifier = Notifier(settings.database_url, "atrium_jobs")
    services = Services(
        settings=settings,
        database=Database(
            settings.database_url,
            pool_size=settings.database_pool,
            statement_cache=settings.database_statement_cache,
            long_transactions=settings.long_transactions,
        ),
        keys=Keyring(read_secret(settings.secret_key, settings.data_dir)),
        passwords=Passwords(),
        metrics=Metrics(),
        registry=registry,
        state=ProcessState(),
        combiner=Combiner(),
        notifier=notifier,
        wait_queues=WaitQueues(notifier),
        blobs=open_blobs(settings, registry),
        staging=StagingArea(settings.data_dir / "staging"),
        outbound=Outbound(settings.trusted_executor_hosts()),
        turns=Background(Capacity(settings.streams_per_process, shared=settings.multitenant)),
        token_ratios=TokenRatios(),
        sandbox=Sandbox(),
        compute=ComputePool(settings.compute_processes),
        threads=Threads(),
        started={},
        telemetry=telemetry,
    )
    housekeeping = Housekeeping(services, [chore for domain in domains for chore in domain.chores])
    standing = CredentialWatcher(services)
    begun: list[Domain] = []

    async def start() -> None:
        try:
            await begin()
        except BaseException:
            # A start that is refused leaves nothing at work: no loop, no connection, no runner that takes jobs.
            await stop()
            raise

    async def begin() -> None:
        asyncio.get_running_loop().set_exception_handler(report_of_loop)
        await services.database.open()
        await instance.require_same_key(services.database, services.keys)
        services.keys.generation = await instance.read_generation(services.database)
        services.notifier.start()
        standing.start()
        for domain in domains:
            if domain.start is not None:
                services.started[domain.name] = await domain.start(services)
                begun.append(domain)
        housekeeping.start()
        # What exists now lives as long as the process; the collector need not look at it again.
        gc.collect()
        gc.freeze()

    async def stop() -> None:
        while begun:
            domain = begun.pop()
            if domain.stop is not None:
                await domain.stop(services, services.started[domain.name])
            del services.started[domain.name]
        await standing.stop()
        await housekeeping.stop()
        await services.notifier.stop()
        await services.database.close()
        await close_store(services.blobs)
        services.staging.close()
        services.outbound.close()
        await services.compute.close()
        services.threads.close()
        services.passwords.close()
        if telemetry is not None:
            await asyncio.to_thread(telemetry.close)

    return Application(App(endpoints, services, standing, start, stop), endpoints, services)


def register(settings: Settings, domains: tuple[Domain, ...] = DOMAINS) -> Registry:
    """Everything domains and plugins plug in."""
    registry = Registry()
    for domain in domains:
        registry.tools |= {tool.name: tool for tool in domain.tools}
        registry.tool_sources += domain.tool_sources
        registry.job_kinds |= {kind.name: kind for kind in domain.job_kinds}
        registry.turn_kinds += domain.turn_kinds
        registry.shareables |= {shareable.kind: shareable for shareable in domain.shareables}
        for listener in domain.listeners:
            registry.listeners.setdefault(listener.event, []).append(listener)
    plugins.load_all(settings, registry)
    return registry


def open_blobs(settings: Settings, registry: Registry) -> BlobStore:
    """The blob store that the settings name."""
    factory = registry.blob_stores.get(settings.blob_store)
    if factory is None:
        reasons = [f"; plugin {name}: {reason}" for name, reason in registry.failed_plugins.items()]
        known = ", ".join(sorted(registry.blob_stores)) or "none"
        raise BootRefused(f"SERVICE_BLOB_STORE={settings.blob_store}: the stores are {known}{''.join(reasons)}")
    return factory(settings)


def endpoints_of(routes: Sequence[Route], domains: tuple[Domain, ...], registry: Registry) -> list[Endpoint]:
    """The table bound to its handlers, plugins' rows after the core's."""
    handlers = handlers_of(domains)
    found = problems(tuple(routes), handlers, domains)
    if found:
        raise BootRefused("refusing to boot:\n  " + "\n  ".join(found))
    core = [bind(route, handlers[route.handler]) for route in routes]
    extra = [bind_plugin(one.id, row) for _, one in sorted(registry.plugins.items()) for row in one.plugin.routes]
    return core + extra
