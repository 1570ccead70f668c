"""The fuse box: every domain and what it plugs in, in floor order."""

from atrium.admin.companies import handlers as companies
from atrium.admin.hosting import handlers as hosting
from atrium.admin.instance import handlers as instance
from atrium.admin.plugins import handlers as plugins
from atrium.engine.ai import handlers as ai
from atrium.engine.executors import handlers as executors
from atrium.engine.executors import jobs as executor_jobs
from atrium.engine.jobs import handlers as jobs
from atrium.engine.repository import handlers as repository
from atrium.engine.tools import handlers as tools
from atrium.ground.audit import handlers as audit
from atrium.ground.features import handlers as features
from atrium.ground.identity import handlers as identity
from atrium.ground.quotas import handlers as quotas
from atrium.product.branding import handlers as branding
from atrium.product.console import handlers as console
from atrium.product.documents import handlers as documents
from atrium.product.localization import handlers as localization
from atrium.product.notes import handlers as notes
from atrium.product.s3 import handlers as s3
from atrium.seams.wiring import Domain

DOMAINS = (
    Domain("audit", audit),
    Domain("features", features),
    Domain("quotas", quotas),
    Domain("identity", identity),
    Domain("ai", ai),
    Domain("tools", tools),
    Domain("repository", repository),
    Domain("jobs", jobs),
    Domain("executors", executors, job_kinds=executor_jobs.KINDS),
    Domain("notes", notes),
    Domain("documents", documents),
    Domain("s3", s3),
    Domain("branding", branding),
    Domain("localization", localization),
    Domain("console", console),
    Domain("instance", instance),
    Domain("plugins", plugins),
    Domain("companies", companies),
    Domain("hosting", hosting),
)
