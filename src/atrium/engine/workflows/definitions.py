"""Definitions: publishing a spec as the next version of its slug, and reading what a team and the plugins have published."""

from collections.abc import Mapping
from typing import Any, NoReturn
from uuid import UUID

import msgspec

from atrium.engine.tools import service as tools
from atrium.engine.workflows import definition_rows as rows
from atrium.engine.workflows import run_outcomes
from atrium.engine.workflows.definition_rows import DefinitionRow, KnownRow, SummaryRow
from atrium.engine.workflows.model import (
    CheckedSpec,
    Definition,
    DefinitionHistory,
    Format,
    InvalidSpec,
    LastRun,
    NotReviewed,
    Reach,
    RetryRule,
    RunnableSpec,
    SpecStale,
    ToolReach,
    Upstream,
    WorkflowMissing,
    WorkflowSummary,
    tag_of,
)
from atrium.engine.workflows.outcome import RunStanding
from atrium.engine.workflows.plugin_specs import PluginSpec
from atrium.engine.workflows.process_cache import Memory
from atrium.engine.workflows.specs import digest_of, read_spec
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.kit.postgres.database import Transaction
from atrium.kit.web.etags import names_tag
from atrium.kit.web.pages import Page, Pager
from atrium.seams import workflow_format
from atrium.seams.context import Context
from atrium.seams.wiring import Keeper, Registry
from atrium.seams.workflows import ChoiceStep, Input, Workflow, longest_path, problems_in, stored_workflow

# So many of the newest versions are listed with a workflow, and stay whether anything names them or not.
MOST_VERSIONS = 200
REMOVED_AT_ONCE = 500
KEEPER = Keeper("workflows", rows.count_kept)


def describe_format() -> Format:
    """What a spec may say."""
    return Format(
        format=workflow_format.FORMAT,
        step_kinds=list(workflow_format.KINDS),
        predicates=workflow_format.PREDICATES,
        references=workflow_format.REFERENCES,
        retry=RetryRule(workflow_format.MOST_RETRIES, workflow_format.BACKOFF),
        json_schema=workflow_format.SCHEMA,
    )


async def check(ctx: Context, document: Any, if_match: str | None) -> CheckedSpec:
    """Judge a spec as publishing it would, and store nothing."""
    spec = await _require_valid(ctx, document)
    await _require_current(ctx, spec.slug, if_match)
    return CheckedSpec(longest_path(spec))


async def publish(ctx: Context, document: Any, if_match: str | None) -> Definition:
    """Make a spec the next version of its slug in the caller's team; with `if_match` only on top of the version it names.

    The version in the document does not count. Runs that are under way keep the version that they began with.
    """
    spec = await _require_valid(ctx, document)
    await _require_current(ctx, spec.slug, if_match)
    brought = _find_brought(ctx, spec.slug)
    await quotas.require_space(ctx, ctx.who.team_id, len(msgspec.json.encode(document)))
    made = await rows.publish(ctx.db, ctx.who, spec.slug, document, None if brought is None else brought.digest)
    row = None if made is None else await rows.find_definition(ctx.db, ctx.who, spec.slug, made.version)
    if row is None:
        raise WorkflowMissing("the workflow was not stored")
    await audit.record(ctx, "workflows.published", spec.slug, version=row.version)
    return Definition(**_facts_of(row))


async def list_workflows(ctx: Context, limit: int, cursor: str | None) -> Page[WorkflowSummary]:
    """The newest version of each of the team's workflows, by slug, with its newest run; a few at a time when they are long."""
    await _look(ctx)
    pager = Pager(ctx.services.keys, "workflows", ctx.who.team_id)
    found = await rows.list_summaries(ctx.db, ctx.who, pager.read(cursor, str) or "", limit + 1)
    fits = sum(row.fits for row in found)
    standings = await run_outcomes.list_standings(ctx, {row.run_id for row in found if row.run_id is not None})
    return pager.page([_summary_of(row, standings) for row in found], min(limit, fits), lambda one: one.slug)


async def read_workflow(ctx: Context, slug: str, version: int | None = None) -> DefinitionHistory:
    """One version of a workflow, the newest when none is named, and its history."""
    row = await _require(ctx, slug, version)
    brought = _find_brought(ctx, slug)
    offered = brought is not None and row.source == "team" and row.plugin_digest != brought.digest
    digest = digest_of(row.spec)
    return DefinitionHistory(
        **_facts_of(row),
        digest=digest,
        reach=await _reach_of(ctx, stored_workflow(row.spec)),
        accepted=await rows.is_accepted(ctx.db, ctx.who, slug, digest),
        versions=await rows.list_publications(ctx.db, ctx.who, slug, MOST_VERSIONS),
        upstream=Upstream(brought.spec.version) if brought is not None and offered else None,
    )


async def remove_unnamed(db: Transaction, org_id: UUID) -> int:
    """Remove some versions beyond the newest that no run names any more; how many. A trigger starts the newest one."""
    return await rows.delete_unnamed(db, org_id, await rows.lock_unnamed(db, org_id, MOST_VERSIONS, REMOVED_AT_ONCE))


async def find(ctx: Context, slug: str, version: int | None = None) -> RunnableSpec:
    """A version of a workflow of the caller's team, ready to run, the newest when none is named; raises WorkflowMissing."""
    row = await _require_version(ctx, slug, version)
    if version is not None and not await rows.hold_version(ctx.db, ctx.who, slug, version):
        _missing(slug, version)
    # A version never changes: its spec is read and converted once per process.
    spec = await read_spec(ctx, ctx.who.team_id, slug, row.version)
    return RunnableSpec(
        slug=slug,
        version=row.version,
        source=row.source,
        spec=spec.workflow,
        digest=spec.digest,
        published_by=row.created_by,
    )


async def find_digest(ctx: Context, slug: str) -> str | None:
    """What stands for the newest version of a workflow; None where there is none."""
    try:
        return (await find(ctx, slug)).digest
    except WorkflowMissing:
        return None


async def accept(ctx: Context, found: RunnableSpec, digest: str) -> None:
    """Keep that the caller has looked at what this version does before starting it; refused when they looked at another one."""
    if digest.lower() != found.digest:
        raise NotReviewed(
            f"version {found.version} is not what you looked at; read what it does now, then start it",
            digest=found.digest,
        )
    await rows.insert_review(ctx.db, ctx.who, found.slug, found.digest)


async def require_accepted(ctx: Context, found: RunnableSpec) -> None:
    """Refuse another person's version that the caller has not accepted: they have not looked at what it does."""
    if found.source != "team" or found.published_by == ctx.who.user_id:
        return
    if not await rows.is_accepted(ctx.db, ctx.who, found.slug, found.digest):
        raise NotReviewed(
            f"another person published version {found.version}; read what it does, then start it", digest=found.digest
        )


async def _reach_of(ctx: Context, spec: Workflow) -> Reach:
    """What the steps' tools do, each named once and in the order of steps."""
    names = dict.fromkeys(step.tool for step in spec.steps if not isinstance(step, ChoiceStep))
    known = await tools.find_tools(ctx, names)
    found = [
        ToolReach(name, tools.effect_of(tool), tool.permission)
        if (tool := known.get(name))
        else ToolReach(name, None, None)
        for name in names
    ]
    return Reach(found, any(tool.sends_out for tool in known.values()))


async def _require_valid(ctx: Context, document: Any) -> Workflow:
    known = {tool.name: tool.parameters for tool in await tools.list_tools(ctx)}
    # A large document takes a few hundred milliseconds.
    size = len(msgspec.json.encode(document))
    if problems := await ctx.services.compute.run(ctx.who.org_id, size, problems_in, document, known):
        raise InvalidSpec(problems[0].sentence, errors=msgspec.to_builtins(problems))
    return stored_workflow(document)


async def _require_current(ctx: Context, slug: str, if_match: str | None) -> None:
    if _find_brought(ctx, slug) is not None:
        await _look(ctx)
    version = await rows.lock_version(ctx.db, ctx.who, slug)
    if if_match is None:
        return
    if version is None:
        raise SpecStale(f"no workflow {slug} has been published here; send it without If-Match")
    if not names_tag(if_match, tag_of(version)):
        raise SpecStale(
            f"version {version} was published after the one you edited; read it, then send your change",
            current=tag_of(version),
        )


async def _require(ctx: Context, slug: str, version: int | None) -> DefinitionRow:
    known = await _require_version(ctx, slug, version)
    row = await rows.find_definition(ctx.db, ctx.who, slug, known.version)
    return row if row is not None else _missing(slug, version)


async def _require_version(ctx: Context, slug: str, version: int | None) -> KnownRow:
    """Which version it is; what a plugin brings by now is looked at first."""
    brought = _find_brought(ctx, slug)
    row = await rows.find_known(ctx.db, ctx.who, slug, version)
    if brought is not None and (row is None or (row.source != "team" and row.plugin_digest != brought.digest)):
        await _look(ctx)
        row = await rows.find_known(ctx.db, ctx.who, slug, version)
    return row if row is not None else _missing(slug, version)


def _missing(slug: str, version: int | None) -> NoReturn:
    of = "" if version is None else f" version {version} of"
    raise WorkflowMissing(f"there is no{of} workflow {slug[:63]}")


async def _look(ctx: Context) -> None:
    """Give the team what plugins bring and it has not seen; what the team has published itself stays.

    All of it and in the order of slugs, whichever was asked for: two transactions that look first cannot wait for each other.
    """
    slugs = sorted(_brought_slugs(ctx.services.registry))
    specs = {slug: one for slug in slugs if (one := _find_brought(ctx, slug))}
    known = {row.slug: row for row in await rows.list_known(ctx.db, ctx.who, list(specs))} if specs else {}
    for slug, one in specs.items():
        row = known.get(slug)
        if row is None:
            put = rows.insert_plugins
        elif row.source != "team" and row.plugin_digest != one.digest:
            put = rows.follow_plugin
        else:
            continue
        await put(ctx.db, ctx.who, slug, one.source, one.spec.version, one.digest, one.document)


def _brought_slugs(registry: Registry) -> set[str]:
    return {spec.slug for plugin in registry.plugins.values() for spec in plugin.workflows}


def _find_brought(ctx: Context, slug: str) -> PluginSpec | None:
    memory: Memory = ctx.services.started["workflows"]
    return memory.brought.find(ctx.services.registry, slug)


def _facts_of(row: DefinitionRow) -> dict[str, Any]:
    spec = stored_workflow(row.spec)
    return {
        "slug": row.slug,
        "version": row.version,
        "title": spec.title or row.slug,
        "description": spec.description,
        "source": row.source,
        "inputs": spec.inputs,
        "spec": row.spec,
        "created_by": row.created_by,
        "created_at": row.created_at,
    }


def _summary_of(row: SummaryRow, standings: Mapping[UUID, RunStanding]) -> WorkflowSummary:
    return WorkflowSummary(
        slug=row.slug,
        version=row.version,
        title=row.title or row.slug,
        description=row.description or "",
        source=row.source,
        inputs=msgspec.convert(row.inputs or {}, dict[str, Input]),
        steps=row.steps,
        last_run=_last_run_of(row, standings),
    )


def _last_run_of(row: SummaryRow, standings: Mapping[UUID, RunStanding]) -> LastRun | None:
    if row.run_id is None or row.run_state is None or row.run_created_at is None or row.run_id not in standings:
        return None
    standing = msgspec.structs.asdict(standings[row.run_id])
    return LastRun(id=row.run_id, state=row.run_state, created_at=row.run_created_at, **standing)
