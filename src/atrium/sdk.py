"""What plugins may use, and their only import from Atrium."""

from atrium.kit.database import Transaction
from atrium.kit.settings import Settings
from atrium.seams.blobs import BlobMissing, BlobStore
from atrium.seams.context import Context, Operation, Principal
from atrium.seams.jobs import Assignment, JobKind, NoArguments
from atrium.seams.tools import Parameter, Tool
from atrium.seams.wiring import Plugin, PluginRequest, PluginRoute, UserError

__all__ = [
    "Assignment",
    "BlobMissing",
    "BlobStore",
    "Context",
    "JobKind",
    "NoArguments",
    "Operation",
    "Parameter",
    "Plugin",
    "PluginRequest",
    "PluginRoute",
    "Principal",
    "Settings",
    "Tool",
    "Transaction",
    "UserError",
]
