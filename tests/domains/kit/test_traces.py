"""A trace goes through request, statement, job and model, carries nothing that people wrote, and costs nothing where there is none."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from atrium.boot import serve
from atrium.boot.assemble import Application, assemble
from atrium.kit.postgres.combiner import Combiner
from atrium.kit.postgres.traced_connection import TracedConnection
from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.log import log
from atrium.kit.telemetry.trace_context import Kind
from atrium.kit.telemetry.traces import Telemetry, TelemetryMissing, open_telemetry
from atrium.seams.settings import chose_sampler, wants_traces
from tests.domains.kit.receiver import receiving
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.processes import bootstrap, serving
from tests.support.servers import settings_for

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"
ANOTHER = "7d1c9a5e3f2b48069c8e1d4a6b0f3725"


@dataclass
class Recorded:
    """An application whose spans stay in memory."""

    house: Application
    telemetry: Telemetry
    exporter: InMemorySpanExporter

    def spans(self, trace: str = TRACE) -> list[ReadableSpan]:
        self.telemetry.flush()
        return [span for span in self.exporter.get_finished_spans() if f"{span.context.trace_id:032x}" == trace]

    async def until(self, name: str, seconds: float = PATIENCE) -> ReadableSpan:
        """The span of this name, once it is there."""
        async with asyncio.timeout(seconds):
            while not (found := [span for span in self.spans() if span.name == name]):
                await asyncio.sleep(0.05)
        return found[0]


@pytest.fixture(scope="module")
async def recorded() -> AsyncIterator[Recorded]:
    exporter = InMemorySpanExporter()
    # Nothing is recorded but what a caller wants recorded.
    telemetry = Telemetry([exporter], "1", share=0, callers_decide=True)
    async with fresh_database() as url:
        house = assemble(settings_for(url, embed_worker=True), telemetry=telemetry)
        await house.app.on_start()
        try:
            yield Recorded(house, telemetry, exporter)
        finally:
            await house.app.on_stop()


@pytest.fixture
async def ada(recorded: Recorded) -> Client:
    recorded.exporter.clear()
    return await (await found_company(recorded.house)).join("member")


def facts_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def parent_of(span: ReadableSpan) -> str:
    assert span.parent is not None, span.name
    return f"{span.parent.span_id:016x}"


async def test_a_request_is_a_span_in_its_callers_trace_and_its_statements_are_inside(
    recorded: Recorded, ada: Client
) -> None:
    secret = "what ada alone may read"

    answer = await ada.send("POST", "/api/notes", {"title": secret, "body": secret}, headers={"traceparent": SAMPLED})

    assert answer.status == 201
    spans = {span.name: span for span in recorded.spans()}
    request = spans["POST /api/notes"]
    assert parent_of(request) == SPAN
    assert request.kind is SpanKind.SERVER
    assert facts_of(request)["http.route"] == "/api/notes"
    assert facts_of(request)["http.response.status_code"] == 201
    assert facts_of(request)["atrium.request_id"] == answer.headers["x-request-id"]
    written = spans["INSERT notes"]
    assert parent_of(written) == f"{request.context.span_id:016x}"
    assert facts_of(written)["db.system.name"] == "postgresql"
    assert "INSERT INTO notes" in facts_of(written)["db.query.text"]
    assert {"BEGIN", "COMMIT"} <= set(spans)
    told = json.dumps([facts_of(span) for span in recorded.spans()])
    assert secret not in told
    assert ada.org_id not in told
    assert str(ada.token) not in told


async def test_what_is_not_sampled_leaves_no_span_and_wraps_no_connection(recorded: Recorded, ada: Client) -> None:
    # A trace of its own: what the requests before this one left to be done may end only now.
    await ada.send("GET", "/api/notes", headers={"traceparent": f"00-{ANOTHER}-{SPAN}-00"})
    await ada.get("/api/notes")

    assert recorded.spans(ANOTHER) == []
    assert "GET /api/notes" not in {span.name for span in recorded.exporter.get_finished_spans()}
    async with recorded.house.services.database.borrow() as connection:
        assert type(connection) is not TracedConnection


@pytest.mark.parametrize(("kind", "recorded"), [("server", False), ("consumer", True)])
def test_only_our_own_work_is_recorded_because_its_trace_says_so(kind: Kind, recorded: bool) -> None:
    telemetry = Telemetry([InMemorySpanExporter()], "1", share=0)

    trace = telemetry.begin("name", kind, trace_context.parse(SAMPLED.encode()), "r-1")

    assert (trace.id, trace.sampled) == (TRACE, recorded)
    telemetry.close()


def test_the_share_holds_whatever_number_callers_give_their_trace() -> None:
    telemetry = Telemetry([InMemorySpanExporter()], "1", share=0.5)
    caller = trace_context.parse(f"00-{'0' * 31}1-{SPAN}-01".encode())

    drawn = sum(telemetry.begin("name", "server", caller, "r-1").sampled for _ in range(400))

    assert 120 < drawn < 280
    telemetry.close()


async def test_a_failed_request_is_marked_by_its_kind_and_not_by_its_words(recorded: Recorded, ada: Client) -> None:
    await ada.send("GET", "/api/notes/00000000-0000-0000-0000-00000000dead", headers={"traceparent": SAMPLED})

    [request] = [span for span in recorded.spans() if span.kind is SpanKind.SERVER]
    assert request.name == "GET /api/notes/:id"
    assert facts_of(request)["http.response.status_code"] == 404
    assert "dead" not in json.dumps([facts_of(span) for span in recorded.spans()])


async def test_a_job_goes_on_with_the_trace_of_the_request_that_queued_it(recorded: Recorded, ada: Client) -> None:
    queued = await ada.send(
        "POST", "/api/jobs", {"kind": "x.example-tools.word-count", "input": {"text": "three plain words"}},
        headers={"traceparent": SAMPLED},
    )  # fmt: skip
    assert queued.status == 201, queued.raw

    job = await recorded.until("job x.example-tools.word-count")

    [request] = [span for span in recorded.spans() if span.kind is SpanKind.SERVER]
    inside = {span.span_id for span in [request.context, *(one.context for one in recorded.spans())]}
    assert job.kind is SpanKind.CONSUMER
    assert facts_of(job)["atrium.job.id"] == queued["id"]
    assert job.parent is not None
    assert job.parent.span_id in inside


async def test_a_models_turn_is_a_span_with_its_tokens_and_without_its_words(recorded: Recorded, ada: Client) -> None:
    secret = "the words of a question"

    answer = await ada.send("POST", "/api/ai/chat", {"prompt": secret}, headers={"traceparent": SAMPLED})

    assert answer.status == 200, answer.raw
    turn = await recorded.until("chat simulated")
    assert facts_of(turn)["gen_ai.operation.name"] == "chat"
    assert facts_of(turn)["gen_ai.usage.output_tokens"] > 0
    assert secret not in json.dumps([facts_of(span) for span in recorded.spans()])


async def test_other_machines_are_told_the_trace(recorded: Recorded) -> None:
    recorded.exporter.clear()
    with receiving() as receiver:

        async def call() -> None:
            trace = trace_context.enter(
                recorded.telemetry, "call", "internal", trace_context.parse(SAMPLED.encode()), "r-1"
            )
            (await recorded.house.services.outbound.anywhere.send("GET", receiver.address + "/models", {})).close()
            assert trace.span is not None
            trace.span.end()

        await asyncio.create_task(call())

    [headers] = receiver.headers
    [called] = [span for span in recorded.spans() if span.name == "GET"]
    assert headers["traceparent"] == f"00-{TRACE}-{called.context.span_id:016x}-01"


async def test_what_is_done_for_several_at_once_is_in_nobodys_trace() -> None:
    combiner, places = Combiner(), list[tuple[int, trace_context.Trace | None]]()

    async def work(items: list[int]) -> list[int | Exception]:
        places.append((len(items), trace_context.current()))
        await asyncio.sleep(0.01)
        return list(items)

    async def ask(number: int) -> str:
        trace = trace_context.enter(None, "ask", "internal", None, f"r-{number}")
        await combiner.submit("key", number, work)
        return trace.id

    ids = await asyncio.gather(*(asyncio.create_task(ask(number)) for number in range(3)))

    assert [count for count, _ in places] == [1, 2] or [count for count, _ in places] == [3]
    for count, place in places:
        assert (place.id in ids) if count == 1 and place is not None else place is None


@pytest.mark.parametrize(
    "header",
    [
        b"", b"00", f"00-{TRACE}-{SPAN}".encode(), f"ff-{TRACE}-{SPAN}-01".encode(), f"00-{'0' * 32}-{SPAN}-01".encode(),
        f"00-{TRACE}-{'0' * 16}-01".encode(), f"00-{TRACE.upper()}-{SPAN}-01".encode(), f"00-{TRACE}-{SPAN}-01\n".encode(),
    ],
)  # fmt: skip
def test_what_is_no_traceparent_begins_a_trace_of_our_own(header: bytes) -> None:
    assert trace_context.parse(header) is None


def test_a_traceparent_of_a_later_version_counts() -> None:
    parent = trace_context.parse(f"cc-{TRACE}-{SPAN}-01-what-else".encode())

    assert parent is not None
    assert (parent.id, parent.span_id, parent.sampled) == (TRACE, SPAN, True)


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_the_standard_variables_turn_traces_on(environment: dict[str, str], wanted: bool) -> None:
    assert wants_traces(environment) is wanted
    assert chose_sampler(environment) is False


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)

    with pytest.raises(TelemetryMissing, match=r"atrium\[telemetry\]"):
        open_telemetry("1", sampler_chosen=False)


async def test_a_server_sends_its_traces_and_every_line_of_its_log_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.address)
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
        async with fresh_database() as url, serving(url, access_log=1) as [server]:
            token = await bootstrap(server)
            async with server.client(token) as client:
                headers = {"traceparent": UNSAMPLED, "x-request-id": "asked-by-ada"}
                assert (await client.get("/api/notes", headers=headers)).status_code == 200
            assert await server.stop() == 0
            lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]

    [batch, *_] = receiver.batches
    assert {one.key: one.value.string_value for one in batch.resource.attributes}["service.name"] == "atrium"
    [listed] = [span for span in receiver.spans if span.name == "GET /api/notes"]
    assert listed.trace_id.hex() == TRACE
    assert any(span.trace_id.hex() == TRACE and span.name.startswith("SELECT") for span in receiver.spans)
    assert {"serve.listening", "serve.draining"} <= {line.get("event") for line in lines}
    assert all(len(line["trace_id"]) == 32 and line["request_id"] for line in lines), lines
    [asked] = [line for line in lines if line["request_id"] == "asked-by-ada"]
    assert asked["trace_id"] == TRACE


async def test_a_signal_in_the_middle_of_a_request_is_not_logged_as_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str] = []
    monkeypatch.setattr(log, "info", lambda event, **facts: places.append(trace_context.here().request_id))
    house = assemble(settings_for("postgresql://nowhere/none"))
    server = serve.Server(uvicorn.Config(house.app), house, announce="")
    trace_context.enter(None, "GET /api/notes", "server", None, "asked-by-ada")

    server.handle_exit(signal.SIGTERM, None)

    assert server.should_exit
    [place] = places
    assert place.startswith("process-")
