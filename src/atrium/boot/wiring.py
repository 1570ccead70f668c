"""Every domain and what it registers, in dependency order."""

from atrium.admin.backups import chores as backup_chores
from atrium.admin.companies import handlers as companies
from atrium.admin.hosting import handlers as hosting
from atrium.admin.instance import handlers as instance
from atrium.admin.instance import service as instance_service
from atrium.admin.plugins import handlers as plugins
from atrium.admin.sandbox import chores as sandbox_chores
from atrium.admin.sandbox import handlers as sandbox
from atrium.admin.sandbox import service as sandbox_service
from atrium.admin.sandbox import tools as sandbox_tools
from atrium.engine.agent import handlers as agent
from atrium.engine.agent import turn_kind as agent_kind
from atrium.engine.chat import chat_turn
from atrium.engine.chat import handlers as chat
from atrium.engine.executors import chores as executor_chores
from atrium.engine.executors import handlers as executors
from atrium.engine.executors import jobs as executor_jobs
from atrium.engine.executors import service as executor_service
from atrium.engine.extraction import jobs as extraction_jobs
from atrium.engine.extraction import listeners as extraction_listeners
from atrium.engine.extraction import service as extraction_service
from atrium.engine.extraction import tools as extraction_tools
from atrium.engine.jobs import chores as job_chores
from atrium.engine.jobs import handlers as jobs
from atrium.engine.jobs import listeners as job_listeners
from atrium.engine.jobs import service as job_service
from atrium.engine.jobs.runner import start_runners, stop_runners
from atrium.engine.repository import chores as repository_chores
from atrium.engine.repository import handlers as repository
from atrium.engine.repository import listeners as repository_listeners
from atrium.engine.repository import permissions as repository_permissions
from atrium.engine.repository import space as repository_space
from atrium.engine.repository import tools as repository_tools
from atrium.engine.tools import handlers as tools
from atrium.engine.turns import chores as turn_chores
from atrium.engine.turns import listeners as turn_listeners
from atrium.engine.turns import upkeep as turn_upkeep
from atrium.engine.workflows import chores as workflow_chores
from atrium.engine.workflows import definitions as workflow_definitions
from atrium.engine.workflows import handlers as workflows
from atrium.engine.workflows import jobs as workflow_jobs
from atrium.engine.workflows import process_cache as workflow_memory
from atrium.engine.workflows import service as workflow_service
from atrium.ground.audit import chain_keys
from atrium.ground.audit import chores as audit_chores
from atrium.ground.audit import handlers as audit
from atrium.ground.features import handlers as features
from atrium.ground.idempotency import chores as idempotency_chores
from atrium.ground.idempotency import service as idempotency_service
from atrium.ground.identity import chores as identity_chores
from atrium.ground.identity import handlers as identity
from atrium.ground.identity import listeners as identity_listeners
from atrium.ground.identity import service as identity_service
from atrium.ground.identity import two_factor
from atrium.ground.limits import chores as limit_chores
from atrium.ground.quotas import chores as quota_chores
from atrium.ground.quotas import handlers as quotas
from atrium.product.branding import handlers as branding
from atrium.product.changes import chores as change_chores
from atrium.product.changes import handlers as changes
from atrium.product.changes import hub as change_hub
from atrium.product.changes import listeners as change_listeners
from atrium.product.console import handlers as console
from atrium.product.documents import handlers as documents
from atrium.product.documents import tools as document_tools
from atrium.product.knowledge import handlers as knowledge
from atrium.product.knowledge import jobs as knowledge_jobs
from atrium.product.knowledge import service as knowledge_service
from atrium.product.knowledge import tools as knowledge_tools
from atrium.product.localization import chores as localization_chores
from atrium.product.localization import copies as localization_copies
from atrium.product.localization import handlers as localization
from atrium.product.localization import jobs as localization_jobs
from atrium.product.mcp import handlers as mcp
from atrium.product.mcp import servers as mcp_servers
from atrium.product.mcp import service as mcp_service
from atrium.product.notes import handlers as notes
from atrium.product.notes import listeners as note_listeners
from atrium.product.notes import service as note_service
from atrium.product.notes import space as note_space
from atrium.product.notes import tools as note_tools
from atrium.product.onboarding import assets as onboarding_assets
from atrium.product.onboarding import chores as onboarding_chores
from atrium.product.onboarding import funnel as onboarding_funnel
from atrium.product.onboarding import handlers as onboarding
from atrium.product.onboarding import jobs as onboarding_jobs
from atrium.product.pipeline import template_process as pipeline_rendering
from atrium.product.pipeline import tools as pipeline_tools
from atrium.product.s3 import credentials as s3_credentials
from atrium.product.s3 import handlers as s3
from atrium.product.s3 import listeners as s3_listeners
from atrium.product.s3 import service as s3_service
from atrium.product.search import chores as search_chores
from atrium.product.search import handlers as search
from atrium.product.search import listeners as search_listeners
from atrium.product.search import tools as search_tools
from atrium.product.translation import chores as translation_chores
from atrium.product.translation import handlers as translation
from atrium.product.translation import listeners as translation_listeners
from atrium.product.trash import chores as trash_chores
from atrium.product.trash import handlers as trash
from atrium.product.triggers import chores as trigger_chores
from atrium.product.triggers import handlers as triggers
from atrium.product.triggers import listeners as trigger_listeners
from atrium.seams.wiring import Domain

DOMAINS = (
    Domain("audit", audit, chores=audit_chores.CHORES, reseal=chain_keys.reseal),
    Domain("idempotency", chores=idempotency_chores.CHORES, sealed=idempotency_service.SEALED),
    Domain("limits", chores=limit_chores.CHORES),
    Domain("features", features),
    Domain("quotas", quotas, chores=quota_chores.CHORES),
    Domain(
        "identity",
        identity,
        listeners=identity_listeners.LISTENERS,
        chores=identity_chores.CHORES,
        reseal=identity_service.reseal,
        sealed=two_factor.SEALED,
    ),
    Domain("tools", tools),
    Domain(
        "repository",
        repository,
        tools=repository_tools.TOOLS,
        listeners=repository_listeners.LISTENERS,
        chores=repository_chores.CHORES,
        shareables=(repository_permissions.OBJECT,),
        keepers=(repository_space.KEEPER,),
    ),
    Domain(
        "jobs",
        jobs,
        listeners=job_listeners.LISTENERS,
        chores=job_chores.CHORES,
        keepers=(job_service.KEEPER,),
        start=start_runners,
        stop=stop_runners,
    ),
    Domain(
        "extraction",
        tools=extraction_tools.TOOLS,
        job_kinds=extraction_jobs.KINDS,
        listeners=extraction_listeners.LISTENERS,
        start=extraction_service.start,
    ),
    Domain(
        "executors",
        executors,
        job_kinds=executor_jobs.KINDS,
        chores=executor_chores.CHORES,
        reseal=executor_service.reseal,
    ),
    Domain(
        "turns",
        listeners=turn_listeners.LISTENERS,
        chores=turn_chores.CHORES,
        start=turn_upkeep.start,
        stop=turn_upkeep.stop,
    ),
    # Both serve operations whose names begin with `ai`.
    Domain("ai", chat, turn_kinds=(chat_turn.KIND,)),
    Domain("ai", agent, turn_kinds=(agent_kind.KIND,)),
    Domain(
        "workflows",
        workflows,
        job_kinds=workflow_jobs.KINDS,
        chores=workflow_chores.CHORES,
        keepers=(workflow_definitions.KEEPER, workflow_service.KEEPER),
        start=workflow_memory.start,
        stop=workflow_memory.stop,
    ),
    Domain(
        "notes",
        notes,
        tools=note_tools.TOOLS,
        listeners=note_listeners.LISTENERS,
        shareables=(note_service.NOTE,),
        keepers=(note_space.KEEPER,),
    ),
    Domain("documents", documents, tools=document_tools.TOOLS),
    Domain("mcp", mcp, tool_sources=(mcp_service.McpTools(),), start=mcp_servers.start, stop=mcp_servers.stop),
    Domain("s3", s3, listeners=s3_listeners.LISTENERS, reseal=s3_service.reseal, sealed=s3_credentials.SEALED),
    Domain("translation", translation, listeners=translation_listeners.LISTENERS, chores=translation_chores.CHORES),
    Domain("triggers", triggers, listeners=trigger_listeners.LISTENERS, chores=trigger_chores.CHORES),
    Domain("pipeline", tools=pipeline_tools.TOOLS, start=pipeline_rendering.start, stop=pipeline_rendering.stop),
    Domain(
        "knowledge",
        knowledge,
        tools=knowledge_tools.TOOLS,
        job_kinds=knowledge_jobs.KINDS,
        shareables=(knowledge_service.ENTITY,),
    ),
    Domain(
        "search",
        search,
        tools=search_tools.TOOLS,
        listeners=search_listeners.LISTENERS,
        chores=search_chores.CHORES,
    ),
    Domain(
        "changes",
        changes,
        listeners=change_listeners.LISTENERS,
        chores=change_chores.CHORES,
        start=change_hub.start,
        stop=change_hub.stop,
    ),
    Domain("trash", trash, chores=trash_chores.CHORES),
    Domain("branding", branding),
    Domain(
        "localization",
        localization,
        job_kinds=localization_jobs.KINDS,
        chores=localization_chores.CHORES,
        start=localization_copies.start,
    ),
    Domain(
        "onboarding",
        onboarding,
        keepers=(onboarding_assets.KEEPER,),
        job_kinds=onboarding_jobs.KINDS,
        chores=onboarding_chores.CHORES,
        start=onboarding_funnel.start,
        stop=onboarding_chores.stop,
        reseal=onboarding_funnel.reseal,
        sealed=onboarding_funnel.SEALED,
    ),
    Domain("console", console),
    Domain("backups", chores=backup_chores.CHORES),
    Domain("instance", instance, reseal=instance_service.reseal),
    Domain("plugins", plugins),
    Domain(
        "sandbox",
        sandbox,
        tool_sources=sandbox_tools.SOURCES,
        chores=sandbox_chores.CHORES,
        start=sandbox_service.start,
        stop=sandbox_service.stop,
    ),
    Domain("companies", companies),
    Domain("moving"),
    Domain("hosting", hosting),
)
