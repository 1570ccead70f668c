"""A receiver of OTLP over HTTP, and what was sent to it."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span


@dataclass(slots=True)
class Receiver:
    """Everything that arrived so far; headers of requests that were not traces are kept as well."""

    address: str = ""
    batches: list[ResourceSpans] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        return [span for batch in self.batches for scope in batch.scope_spans for span in scope.spans]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free port."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers["content-encoding"] == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces", self.path
            receiver.batches.extend(ExportTraceServiceRequest.FromString(body).resource_spans)
            self._reply()

        def do_GET(self) -> None:
            receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
            self._reply()

        def _reply(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
