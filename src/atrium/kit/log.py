"""Structured logs: one JSON line per event on standard error, never a secret and never a body."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import msgspec
import structlog

from atrium.kit import tracing

log = structlog.get_logger("atrium")


def _placed(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Which request, job or chore it was, and the trace that is part of."""
    place = tracing.here()
    event.setdefault("request_id", place.request_id)
    event["trace_id"] = place.id
    return event


def set_up_logging(level: str) -> None:
    """Send everything, libraries included, through one renderer."""
    number = getattr(logging, level.upper(), logging.INFO)
    shared: list[Any] = [
        _placed,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render = structlog.processors.JSONRenderer(
        serializer=lambda value, **_: msgspec.json.encode(value, enc_hook=str).decode()
    )
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                render,
            ],
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)
