"""Traces as OpenTelemetry records and sends them; the packages come with the extra `telemetry`, and the standard OTEL_ variables rule."""

import contextlib
import random
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from atrium.kit.ids import new_id
from atrium.kit.telemetry.trace_context import Kind, Parent, Trace, Value
from atrium.kit.telemetry.trace_context import new_id as new_digits

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span as SdkSpan
    from opentelemetry.sdk.trace import Tracer
    from opentelemetry.sdk.trace.export import SpanExporter

# One in fifty, unless OTEL_TRACES_SAMPLER says otherwise: recording a request can cost as much as answering it.
USUAL_SHARE = 0.02
# The half of a trace's number by which OpenTelemetry's samplers decide.
_LOW = (1 << 64) - 1


class TelemetryMissing(Exception):
    """The environment asks for traces, and the packages that record them are not installed."""


class _Span:
    """A span of the SDK, and how to make those inside it."""

    __slots__ = ("_telemetry", "inner")

    def __init__(self, telemetry: "Telemetry", inner: "SdkSpan") -> None:
        self._telemetry, self.inner = telemetry, inner

    @property
    def id(self) -> str:
        return f"{self.inner.get_span_context().span_id:016x}"

    def begin(self, name: str, kind: Kind, facts: Mapping[str, Value]) -> "_Span":
        return _Span(self._telemetry, self._telemetry.start_span(name, kind, self.inner, facts))

    def note(self, name: str, value: Value) -> None:
        self.inner.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self.inner.update_name(name)

    def end(self, error: BaseException | None = None) -> None:
        if error is not None:
            # The kind of error and nothing of its text, which may quote what people wrote.
            self.inner.set_attribute("error.type", type(error).__name__)
            self.inner.set_status(self._telemetry.failed)
        self.inner.end()


class Telemetry:
    """Records a share of all traces and sends them in batches, from a thread of its own. Made once per process."""

    def __init__(
        self,
        exporters: Sequence["SpanExporter"],
        version: str,
        *,
        share: float | None = None,
        callers_decide: bool = False,
    ) -> None:
        """`share` of all traces, or what OTEL_TRACES_SAMPLER says; with `callers_decide` also every request whose caller records it."""
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

        class Ids(RandomIdGenerator):
            """The trace's number is settled before the SDK is asked, so that most need not ask it."""

            settled = 0

            def generate_trace_id(self) -> int:
                return self.settled

        facts = {"service.name": "atrium", "service.version": version, "service.instance.id": str(new_id())}
        facts["host.name"] = socket.gethostname()
        usual = None if share is None else ParentBasedTraceIdRatio(share)
        self._bound = None if share is None else round(share * (_LOW + 1))
        self._callers_decide = callers_decide
        self._ids = Ids()
        # What the environment says (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) wins over what we call ourselves.
        resource = Resource(facts).merge(Resource.create())
        if "unknown_service" in str(resource.attributes.get("service.name")):
            resource = resource.merge(Resource({"service.name": "atrium"}))
        self._provider = TracerProvider(
            sampler=usual, resource=resource, id_generator=self._ids, shutdown_on_exit=False
        )
        for exporter in exporters:
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer: Tracer = self._provider.get_tracer("atrium", version)  # type: ignore[assignment]
        self._sampler = self._provider.sampler
        self._trace = trace
        self.failed = trace.Status(trace.StatusCode.ERROR)
        self._kinds = {
            "server": trace.SpanKind.SERVER,
            "client": trace.SpanKind.CLIENT,
            "consumer": trace.SpanKind.CONSUMER,
            "internal": trace.SpanKind.INTERNAL,
        }
        self._recorded = {decision: decision.is_sampled() for decision in _decisions()}

    def begin(self, name: str, kind: Kind, parent: Parent | None, request_id: str) -> Trace:
        """A new place in the caller's trace, or in one of its own; recorded when the sampler says so."""
        id = new_digits(32) if parent is None else parent.id
        number = int(id, 16)
        if parent is None and self._bound is not None and (number & _LOW) >= self._bound:
            # What the sampler would say of nearly every request, without asking it.
            return Trace(id, new_digits(16), request_id)
        if parent is not None and kind == "server" and not self._draws():
            # A request's caller may be a stranger: their wish to have it recorded is weighed like any other request.
            return Trace(id, new_digits(16), request_id)
        context = None if parent is None else self._context_of(parent)
        if not self._recorded[self._sampler.should_sample(context, number, name).decision]:
            return Trace(id, new_digits(16), request_id)
        self._ids.settled = number
        span = _Span(self, self._tracer.start_span(name, context, self._kinds[kind]))  # type: ignore[arg-type]
        return Trace(id, span.id, request_id, sampled=True, span=span)

    def start_span(self, name: str, kind: Kind, parent: "SdkSpan", facts: Mapping[str, Value]) -> Any:
        """A span inside another."""
        context = self._trace.set_span_in_context(parent)
        return self._tracer.start_span(name, context, self._kinds[kind], facts)

    def close(self) -> None:
        """Send what is left, and stop."""
        with contextlib.suppress(Exception):  # a receiver that is away must not keep the process from stopping
            self._provider.shutdown()

    def flush(self) -> None:
        """Send what is recorded now."""
        self._provider.force_flush()

    def _draws(self) -> bool:
        """Whether a request of a caller's trace may be recorded; not by the trace's number, which is the caller's choice."""
        return self._bound is None or self._callers_decide or random.getrandbits(64) < self._bound

    def _context_of(self, parent: Parent) -> Any:
        flags = self._trace.TraceFlags(self._trace.TraceFlags.SAMPLED if parent.sampled else 0)
        remote = self._trace.SpanContext(int(parent.id, 16), int(parent.span_id, 16), True, flags)
        return self._trace.set_span_in_context(self._trace.NonRecordingSpan(remote))


def _decisions() -> Any:
    from opentelemetry.sdk.trace.sampling import Decision

    return Decision


def open_telemetry(version: str, *, sampler_chosen: bool) -> Telemetry:
    """Traces to where OTEL_EXPORTER_OTLP_ENDPOINT points, as OTLP over HTTP; the SDK reads the other OTEL_ variables itself."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return Telemetry([OTLPSpanExporter()], version, share=None if sampler_chosen else USUAL_SHARE)
    except ImportError as error:
        raise TelemetryMissing("install the extra: pip install 'atrium[telemetry]'") from error
