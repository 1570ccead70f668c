"""Specs of versions that runs use: they never change, so each process keeps those it used last."""

import hashlib
from collections import OrderedDict
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows import run_rows
from atrium.engine.workflows.interpreter import Spec
from atrium.engine.workflows.model import WorkflowMissing
from atrium.seams.context import Context
from atrium.seams.workflows import stored_workflow

_MOST = 1000


class SpecCache:
    """The specs used last, by team, slug and version."""

    def __init__(self) -> None:
        self._specs: OrderedDict[tuple[UUID, str, int], Spec] = OrderedDict()

    def find(self, key: tuple[UUID, str, int]) -> Spec | None:
        """A spec that was used lately."""
        found = self._specs.get(key)
        if found is not None:
            self._specs.move_to_end(key)
        return found

    def put(self, key: tuple[UUID, str, int], spec: Spec) -> None:
        """Keep a spec, and let go of the one that was used longest ago."""
        self._specs[key] = spec
        if len(self._specs) > _MOST:
            self._specs.popitem(last=False)


def digest_of(document: dict[str, Any]) -> str:
    """What stands for a version as it is stored: its number is part of it, so that no other version has the same."""
    return hashlib.sha256(msgspec.json.encode(document, order="sorted")).hexdigest()


async def read_spec(ctx: Context, team_id: UUID, slug: str, version: int) -> Spec:
    """The spec of a version that is there."""
    cache: SpecCache = ctx.services.started["workflows"].specs
    key = team_id, slug, version
    spec = cache.find(key)
    if spec is None:
        found = await run_rows.find_spec(ctx.db, ctx.who.org_id, team_id, slug, version)
        if found is None:
            raise WorkflowMissing(f"there is no version {version} of {slug}")
        spec = Spec(stored_workflow(found), digest_of(found))
        cache.put(key, spec)
    return spec
