"""Run jobs of an Atrium server on a machine of your own."""

from atrium_worker.api import Job, Refused, Server, StaleClaim
from atrium_worker.model import Model
from atrium_worker.worker import Worker

__all__ = ["Job", "Model", "Refused", "Server", "StaleClaim", "Worker"]
