"""The funnel of this process: whose it is, its secret, the experiences it has read, and how many came how far."""

import hashlib
import json
import os
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import CompanyDraft
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres.database import Database
from atrium.kit.refusals import CommandError
from atrium.product.onboarding import experience, store
from atrium.product.onboarding.model import FunnelMissing
from atrium.seams.context import Context, Operation, Services
from atrium.seams.onboarding import Experience
from atrium.seams.wiring import Sealed

# The number that stands for what is shown while nothing was published.
SEEDED = 0
_MOST_REMEMBERED = 16
_BINDING = "onboarding|secret"
SEALED = (Sealed("onboarding_secrets", "sealed", lambda row: _BINDING),)


class BadExperienceFile(CommandError):
    """SERVICE_BETA_EXPERIENCE cannot be read; the message says why."""


class Funnel:
    """What a process remembers; the rows are the truth, and nothing here goes out of date but what `forget` drops."""

    def __init__(self, seed: Experience | None) -> None:
        self.seed = seed
        self.counted: Counter[tuple[date, str]] = Counter()
        self.founding: CompanyDraft | None = None
        self._secrets: dict[UUID, bytes] = {}
        self._experiences: dict[tuple[UUID, int], Experience] = {}

    def count(self, what: str) -> None:
        """One more visitor who came so far today."""
        self.counted[datetime.now(UTC).date(), what] += 1

    def forget(self) -> None:
        """Look again at whose the funnel is."""
        self.founding = None

    async def find_owner(self, op: Operation) -> CompanyDraft | None:
        """The instance's first company and team; None before it is set up."""
        if self.founding is None:
            async with op.begin_system() as ctx:
                self.founding = (await tenancy.read_instance(ctx)).founding
        return self.founding

    async def owner(self, op: Operation) -> CompanyDraft:
        """The same; there is no funnel before there is one."""
        founding = await self.find_owner(op)
        if founding is None:
            raise FunnelMissing("this server has not been set up yet")
        return founding

    async def secret(self, op: Operation, org_id: UUID) -> bytes:
        """The key of everything that is digested or signed here, made on first use."""
        if org_id not in self._secrets:
            async with op.services.database.begin(org_id) as db:
                sealed = await store.find_secret(db, org_id)
                if sealed is None:
                    await store.insert_secret(db, org_id, op.services.keys.seal(os.urandom(32), _BINDING))
                    sealed = await store.find_secret(db, org_id)
            self._secrets[org_id] = op.services.keys.open(sealed or b"", _BINDING)
        return self._secrets[org_id]

    async def find(self, ctx: Context, org_id: UUID, version: int) -> Experience | None:
        """A published version, or the seeded one; None when there is none of this number."""
        if version == SEEDED:
            return self.seed
        known = self._experiences.get((org_id, version))
        if known is None:
            row = await store.find_version(ctx.db, org_id, version)
            if row is None:
                return None
            known = msgspec.convert(row.document, Experience)
            while len(self._experiences) >= _MOST_REMEMBERED:
                self._experiences.pop(next(iter(self._experiences)))
            self._experiences[org_id, version] = known
        return known

    async def current(self, ctx: Context, org_id: UUID) -> tuple[int, Experience]:
        """What visitors see, with its number; refused when neither a version, a file nor a plugin says anything."""
        version = await store.find_newest(ctx.db, org_id) or SEEDED
        found = await self.find(ctx, org_id, version)
        if found is None:
            raise FunnelMissing("no sign-up form was published here")
        return version, found


def funnel_of(services: Services) -> Funnel:
    """The funnel of this process."""
    found: Funnel = services.started["onboarding"]
    return found


def derive_digest(secret: bytes, purpose: str, text: str = "") -> bytes:
    """A digest that only this instance can make, for one purpose."""
    return hashlib.blake2b(text.encode(), key=secret, person=purpose.encode()[:16], digest_size=32).digest()


async def start(services: Services) -> Funnel:
    """Read what is shown before anything was published: the file of the settings, else the first plugin's."""
    return Funnel(_seed(services))


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal the secret again under the newest key; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        companies = await tenancy.list_all_ids(db)
    for org_id in companies:
        async with database.begin(org_id) as db:
            sealed = await store.find_secret(db, org_id)
            fresh = None if sealed is None else keys.reseal(sealed, _BINDING)
            if fresh is not None:
                await store.update_secret(db, org_id, fresh)
                changed += 1
    return changed


def _seed(services: Services) -> Experience | None:
    path = services.settings.beta_experience
    if path:
        try:
            document: Any = json.loads(Path(path).read_text("utf-8"))
            return experience.read(document)
        except (OSError, ValueError, TypeError) as error:
            raise BadExperienceFile(f"SERVICE_BETA_EXPERIENCE={path} cannot be used: {error}") from error
    provided = [one.onboarding for _, one in sorted(services.registry.plugins.items()) if one.onboarding is not None]
    return provided[0] if provided else None
