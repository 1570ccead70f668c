"""What a command needs before it touches anything: settings that can be used, the right key, a schema it knows."""

import contextlib
import os
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_network
from pathlib import Path

import asyncpg

from atrium.admin.instance import service as instance
from atrium.ground.quotas.model import DIMENSIONS, WINDOWS
from atrium.ground.tenancy.locales import list_locales
from atrium.kit.crypto.keys import Keyring, find_secret
from atrium.kit.postgres.database import Database
from atrium.kit.postgres.migrate import MigrationRefused, list_pending
from atrium.kit.refusals import CommandError, CommandFailure
from atrium.seams.settings import Settings

_UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.exceptions.ClientConfigurationError,
)
_TOKEN_LENGTH = 32
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


class StartRefused(CommandError):
    """This process cannot serve; the message says why and what to change."""


def problems_with(settings: Settings) -> list[str]:
    """Every setting that reads well but cannot be used on this machine; nothing is opened and nothing is made."""
    return [
        *_problems_with_folders(settings),
        *_problems_with_words(settings),
        *_problems_with_key(settings),
        *_problems_with_certificate(settings),
    ]


def _problems_with_folders(settings: Settings) -> Iterator[str]:
    if settings.plugins_dir and not Path(settings.plugins_dir).is_dir():
        yield f"SERVICE_PLUGINS_DIR={settings.plugins_dir!r} is not a folder"
    data = settings.data_dir.resolve()
    nearest = next(folder for folder in (data, *data.parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        yield f"SERVICE_DATA_DIR={str(settings.data_dir)!r} is not a folder that this account may write to"


def _problems_with_words(settings: Settings) -> Iterator[str]:
    known = "|".join(list_locales(settings))
    if settings.default_locale not in known.split("|"):
        yield f"SERVICE_DEFAULT_LOCALE={settings.default_locale!r} is not known: it takes {known}"
    if settings.provision_token and len(settings.provision_token) < _TOKEN_LENGTH:
        yield f"SERVICE_PROVISION_TOKEN is too short: it takes at least {_TOKEN_LENGTH} characters"
    if settings.metrics_token and len(settings.metrics_token) < _TOKEN_LENGTH:
        yield f"SERVICE_METRICS_TOKEN is too short: it takes at least {_TOKEN_LENGTH} characters"
    if settings.base_url and not settings.base_url.startswith(("http://", "https://")):
        yield f"SERVICE_BASE_URL={settings.base_url!r} must begin with http:// or https://"
    if not _BUCKET.fullmatch(settings.s3_bucket):
        yield f"SERVICE_S3_BUCKET={settings.s3_bucket!r} is not a bucket's name: 3 to 63 of a-z, 0-9, dot and hyphen"
    for plan in settings.plans:
        for dimension, window in plan.caps:
            if dimension not in DIMENSIONS or window not in WINDOWS:
                takes = f"{'|'.join(DIMENSIONS)}, a slash and {'|'.join(WINDOWS)}"
                yield f"SERVICE_PLANS: {dimension}/{window} of {plan.name} is not a cap: it takes {takes}"
    for proxy in filter(None, (part.strip() for part in settings.trusted_proxies.split(","))):
        if proxy != "*" and not _is_network(proxy):
            yield f"SERVICE_TRUSTED_PROXIES: {proxy!r} is neither an address nor a network"


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def require_usable(settings: Settings) -> None:
    """Refuse settings that cannot be used, all of them at once."""
    found = problems_with(settings)
    if found:
        raise StartRefused(found[0] if len(found) == 1 else "\n  ".join(["refusing to start:", *found]))


async def require_known_database(settings: Settings) -> list[str]:
    """Refuse a schema this program does not know, and a key that cannot open what is sealed; what is pending.

    Nothing is written: a refused start changes nothing.
    """
    keys = find_keys(settings)
    missing = await require_known_schema(settings)
    if missing and missing[0].startswith("0001_"):
        return missing
    async with opened_unjudged(settings) as database:
        await instance.require_key(database, keys)
    return missing


async def require_known_schema(settings: Settings) -> list[str]:
    """Refuse a schema this program does not know; what is pending."""
    with explain_database_errors():
        return await list_pending(settings.database_url)


@contextlib.asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database, for as long as a command needs it; a schema that is not this program's is refused."""
    require_at_head(await require_known_schema(settings))
    async with opened_unjudged(settings) as database:
        yield database


@contextlib.asynccontextmanager
async def opened_unjudged(settings: Settings) -> AsyncIterator[Database]:
    """The database, whatever its schema."""
    database = Database(settings.database_url, pool_size=2, statement_cache=settings.database_statement_cache)
    with explain_database_errors():
        await database.open()
        try:
            yield database
        finally:
            await database.close()


def require_at_head(missing: list[str]) -> None:
    """Refuse a schema that is behind this program."""
    if missing:
        raise MigrationRefused(f"the schema is behind ({', '.join(missing)}); run `atrium migrate` first")


@contextlib.contextmanager
def explain_database_errors() -> Iterator[None]:
    """Whatever keeps us from the database becomes one sentence."""
    try:
        yield
    except _UNREACHABLE as error:
        raise CommandFailure(f"the database cannot be reached: {error}; look at SERVICE_DATABASE_URL") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise StartRefused(
            f"the login of SERVICE_DATABASE_URL may not serve ({error}); GRANT atrium_app, atrium_system TO it"
        ) from error


def find_keys(settings: Settings) -> Keyring | None:
    """The keys that are here; None when there are none yet. Nothing is made."""
    secret = find_secret(settings.secret_key, settings.data_dir)
    try:
        return Keyring(secret) if secret else None
    except ValueError as error:
        raise StartRefused(str(error)) from error


def require_keys(settings: Settings) -> Keyring:
    """The keys that are here; a command that works on secrets makes none."""
    keys = find_keys(settings)
    if keys is None:
        raise StartRefused(
            "the instance's key is not here: set SERVICE_SECRET_KEY, or the SERVICE_DATA_DIR it is kept in"
        )
    return keys


def _problems_with_key(settings: Settings) -> list[str]:
    try:
        find_keys(settings)
    except StartRefused as refusal:
        return [str(refusal)]
    return []


def _problems_with_certificate(settings: Settings) -> list[str]:
    if not settings.tls_certificate and not settings.tls_key:
        return []
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_certificate, settings.tls_key or None)
    except (OSError, ssl.SSLError) as error:
        return [f"the certificate cannot be used: {error}; look at SERVICE_TLS_CERTIFICATE and SERVICE_TLS_KEY"]
    return []
