"""Structured logs: one JSON line per event on standard error, never a secret, a body or an exception's message."""

import asyncio
import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import msgspec
import structlog

from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.exceptions import describe, traceback_of

log = structlog.get_logger("atrium")


def _placed(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Which request, job or chore it was, and the trace that is part of."""
    place = trace_context.here()
    event.setdefault("request_id", place.request_id)
    event["trace_id"] = place.id
    return event


def _described(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Exceptions among the values, by what may be logged of them."""
    for key, value in event.items():
        if key != "exc_info" and isinstance(value, BaseException):
            event[key] = describe(value)
    return event


_frames = structlog.processors.ExceptionRenderer(lambda info: traceback_of(info[1]))


def report_of_loop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What the event loop reports of itself; its own text would quote the exception of a task."""
    error = context.get("exception")
    log.error("loop.failed", problem=context["message"], exc_info=error)


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
        processors=[*shared, _described, _frames, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _frames,
                render,
            ],
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)
