"""Where in a trace something happens: log lines name it, spans hang on it, calls to other machines carry it. Nothing decides by it."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from random import Random
from types import TracebackType
from typing import Literal, Protocol

Kind = Literal["server", "client", "consumer", "internal"]
Value = str | int | float | bool
_random = Random()  # noqa: S311 - ties lines and spans together, and keeps no secret
# W3C Trace Context: a later version may append fields; what is all zero, and version ff, is none.
_PARENT = re.compile(rb"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?\Z")


class Span(Protocol):
    """A stretch of time that is being recorded."""

    @property
    def id(self) -> str:
        """16 hexadecimal digits."""

    def begin(self, name: str, kind: Kind, facts: Mapping[str, Value]) -> "Span":
        """A stretch inside this one."""

    def note(self, name: str, value: Value) -> None:
        """One more fact about it."""

    def rename(self, name: str) -> None:
        """Call it something else."""

    def end(self, error: BaseException | None = None) -> None:
        """It is over; with what went wrong, if anything did."""


class Trace:
    """One place in a trace. `span` is None where nothing is recorded, which is nearly everywhere."""

    __slots__ = ("id", "request_id", "sampled", "span", "span_id")

    def __init__(
        self, id: str, span_id: str, request_id: str, *, sampled: bool = False, span: Span | None = None
    ) -> None:
        self.id, self.span_id, self.request_id = id, span_id, request_id
        self.sampled, self.span = sampled, span

    @property
    def traceparent(self) -> str:
        """What another machine, or a job, is told so that it goes on with this trace."""
        return f"00-{self.id}-{self.span_id}-{'01' if self.sampled else '00'}"


class Parent:
    """What a caller said about the trace they are in."""

    __slots__ = ("id", "sampled", "span_id")

    def __init__(self, id: str, span_id: str, sampled: bool) -> None:
        self.id, self.span_id, self.sampled = id, span_id, sampled


class Recorder(Protocol):
    """Decides which traces are recorded, and begins their first span here."""

    def begin(self, name: str, kind: Kind, parent: Parent | None, request_id: str) -> Trace:
        """A new place in the caller's trace, or in one of its own."""


# The only context variable there is: who writes a log line, or calls another machine, need not be handed it.
_here: ContextVar[Trace | None] = ContextVar("trace", default=None)


def new_id(digits: int) -> str:
    """A random number in so many hexadecimal digits, never all zero."""
    return f"{_random.getrandbits(digits * 4) or 1:0{digits}x}"


# What happens outside of any request and job: starting, stopping, and the loops in between.
_PROCESS = Trace(new_id(32), new_id(16), f"process-{new_id(8)}")


def parse(header: bytes | None) -> Parent | None:
    """The caller's place in their trace; None for none, and for what is not one."""
    found = _PARENT.match(header) if header is not None else None
    if found is None:
        return None
    id, span_id, flags = found.groups()
    return Parent(id.decode(), span_id.decode(), bool(int(flags, 16) & 1))


def here() -> Trace:
    """Where we are; the process's own place when nothing was entered."""
    return _here.get() or _PROCESS


def current() -> Trace | None:
    """Where we are, inside a request, a job or a chore."""
    return _here.get()


def enter(recorder: Recorder | None, name: str, kind: Kind, parent: Parent | None, request_id: str) -> Trace:
    """Begin: everything this task does from now on, and every task it starts, happens here."""
    if recorder is None:
        id, sampled = (parent.id, parent.sampled) if parent is not None else (new_id(32), False)
        trace = Trace(id, new_id(16), request_id, sampled=sampled)
    else:
        trace = recorder.begin(name, kind, parent, request_id)
    _here.set(trace)
    return trace


def move(trace: Trace | None) -> None:
    """What this task does from now on happens there; for work that is done together for several."""
    _here.set(trace)


def recorded_span() -> Span | None:
    """The span that is being recorded here; None where nothing is."""
    trace = _here.get()
    return None if trace is None else trace.span


class Within:
    """A span for the length of a block, where one is being recorded; the block finds it as where it is."""

    __slots__ = ("_facts", "_kind", "_name", "_outer", "_span")

    def __init__(self, name: str, kind: Kind = "internal", **facts: Value) -> None:
        self._name, self._kind, self._facts = name, kind, facts
        self._span: Span | None = None

    def __enter__(self) -> Span | None:
        outer = self._outer = _here.get()
        if outer is None or outer.span is None:
            return None
        span = self._span = outer.span.begin(self._name, self._kind, self._facts)
        _here.set(Trace(outer.id, span.id, outer.request_id, sampled=True, span=span))
        return span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._span is not None:
            _here.set(self._outer)
            self._span.end(error)
