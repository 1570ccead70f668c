"""Operational metrics of this process, as Prometheus text or JSON."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Counters and histograms; make one per process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "atrium_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "atrium_request_seconds", "Time to answer.", ("method", "route"), buckets=BUCKETS, registry=self.registry
        )
        self.in_flight = Gauge("atrium_requests_in_flight", "Requests being answered.", registry=self.registry)
        self.refused_logins = Counter(
            "atrium_refused_logins", "Sign-ins refused, by reason.", ("reason",), registry=self.registry
        )
        self.jobs = Counter("atrium_jobs", "Attempts ended by this process.", ("kind", "state"), registry=self.registry)
        self.tool_calls = Counter(
            "atrium_tool_calls", "Tool calls, by how they ended.", ("source", "effect", "end"), registry=self.registry
        )
        self.tool_seconds = Histogram(
            "atrium_tool_call_seconds", "Time in a tool.", ("source",), buckets=BUCKETS, registry=self.registry
        )
        self.open_turns = Gauge("atrium_turns_running", "Replies of models being said.", registry=self.registry)
        self.turns = Counter("atrium_turns", "Turns of models, by how they ended.", ("state",), registry=self.registry)
        self.turn_tokens = Counter("atrium_turn_tokens", "Tokens paid for turns.", registry=self.registry)
        self.turn_first_word = Histogram(
            "atrium_turn_first_word_seconds",
            "From admission to the first word.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.turns_refused = Counter(
            "atrium_turns_refused", "Turns refused before a model was asked.", ("code",), registry=self.registry
        )
        self.sealed_events = Counter("atrium_audit_events_sealed", "Audit events chained.", registry=self.registry)

    def as_text(self) -> bytes:
        """The exposition format that Prometheus scrapes."""
        return generate_latest(self.registry)

    def as_json(self) -> dict[str, list[dict[str, Any]]]:
        """Samples by metric name."""
        return {
            family.name: [
                {"name": sample.name, "labels": sample.labels, "value": sample.value} for sample in family.samples
            ]
            for family in self.registry.collect()
        }
