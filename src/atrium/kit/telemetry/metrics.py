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
        # The names of OpenTelemetry's conventions, as Prometheus spells them.
        self.requests = Histogram(
            "http_server_request_duration_seconds",
            "Time to answer a request.",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge("http_server_active_requests", "Requests being answered.", registry=self.registry)
        self.connections = Gauge(
            "atrium_database_connections",
            "Connections of this process to PostgreSQL.",
            ("state",),
            registry=self.registry,
        )
        # Of the whole instance: the same from every process, read when they are asked for.
        self.jobs_queued = Gauge("atrium_jobs_queued", "Jobs that wait, of all companies.", registry=self.registry)
        self.jobs_oldest = Gauge(
            "atrium_jobs_oldest_seconds",
            "How long the oldest job waits that no cap, quota or suspension holds back.",
            registry=self.registry,
        )
        self.workers = Gauge("atrium_workers", "Workers seen within a minute.", registry=self.registry)
        self.unsealed_oldest = Gauge(
            "atrium_audit_unsealed_oldest_seconds",
            "Age of the oldest audit event without its place in a chain.",
            registry=self.registry,
        )
        self.blobs_waiting = Gauge(
            "atrium_blobs_waiting_release", "Bytes' names that wait to be released.", registry=self.registry
        )
        self.executors_silent = Gauge(
            "atrium_executors_silent", "Machines in service that do not answer.", registry=self.registry
        )
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
        self.last_backup = Gauge(
            "atrium_backup_last_success_timestamp_seconds", "When the newest backup was taken.", registry=self.registry
        )
        self.backup_interval = Gauge(
            "atrium_backup_interval_seconds",
            "How old the newest backup may become; 0 without a schedule.",
            registry=self.registry,
        )
        self.changes_lag = Gauge(
            "atrium_changes_lag_seconds",
            "How long the change feed waits for an open transaction.",
            registry=self.registry,
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
