"""Alerts and the dashboard name only what the server tells; each alert is heard when it should be; Prometheus objects to nothing."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from atrium.kit.telemetry.metrics import Metrics
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.processes import ROOT

ALERTS, DASHBOARD = ROOT / "deploy" / "alerts.yaml", ROOT / "deploy" / "grafana" / "atrium.json"
CASES = Path(__file__).parent / "alerts.test.yaml"
NAME = re.compile(r"\b(?:atrium|http_server|process)_[a-z_]+\b")
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (package prometheus)"
)


def told() -> set[str]:
    """Every name that a server tells, with and without what Prometheus appends."""
    found: set[str] = set()
    for family in Metrics().registry.collect():
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
        found |= {family.name + suffix for suffix in suffixes}
    return found


def labels_of(expression: str) -> set[str]:
    """What an expression selects or sums by."""
    selected = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression)
    grouped = [name.strip() for names in re.findall(r"\bby \(([^)]*)\)", expression) for name in names.split(",")]
    return {*selected, *grouped} - {""}


def known_labels() -> set[str]:
    names = {"job", "instance", "le"}
    for metric in vars(Metrics()).values():
        names |= set(getattr(metric, "_labelnames", ()))
    return names


def expressions() -> list[str]:
    rules = [rule["expr"] for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return rules + [target["expr"] for panel in panels for target in panel["targets"]]


def promtool(*arguments: str, given: bytes = b"", folder: Path = ROOT) -> str:
    ended = subprocess.run(["promtool", *arguments], input=given, capture_output=True, cwd=folder, timeout=PATIENCE)
    said = (ended.stdout + ended.stderr).decode()
    assert ended.returncode == 0, said
    return said


def test_alerts_and_dashboard_name_only_what_a_server_tells() -> None:
    named = {name for expression in expressions() for name in NAME.findall(expression)}
    of_labels = {label for expression in expressions() for label in labels_of(expression)}

    assert named - of_labels <= told()
    assert len(named) > 15
    assert of_labels <= known_labels()


def test_no_metric_tells_whose_it_is() -> None:
    assert not known_labels() & {
        "org",
        "org_id",
        "company",
        "team",
        "team_id",
        "user",
        "user_id",
        "username",
        "key",
        "path",
    }


def test_every_alert_is_tried_and_says_what_to_do() -> None:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    quiet, loud = yaml.safe_load(CASES.read_text())["tests"]

    names = [rule["alert"] for rule in rules]
    assert sorted(names) == sorted(case["alertname"] for case in quiet["alert_rule_test"])
    assert loud["promql_expr_test"][0]["exp_samples"][0]["value"] == len(names)
    assert all(
        rule["annotations"]["description"] and rule["labels"]["severity"] in ("page", "ticket") for rule in rules
    )


@needs_promtool
def test_prometheus_takes_the_rules_and_each_alert_is_heard_when_it_should_be(tmp_path: Path) -> None:
    assert "SUCCESS" in promtool("check", "rules", str(ALERTS))
    assert "SUCCESS" in promtool("test", "rules", CASES.name, folder=CASES.parent)

    deaf = tmp_path / "alerts.yaml"
    deaf.write_text(ALERTS.read_text().replace("> 0.01", "> 0.9"))
    cases = tmp_path / "cases.yaml"
    cases.write_text(CASES.read_text().replace("../../../deploy/alerts.yaml", str(deaf)))
    assert (
        subprocess.run(["promtool", "test", "rules", str(cases)], capture_output=True, timeout=PATIENCE).returncode == 1
    )


@needs_promtool
async def test_prometheus_has_nothing_to_object_to_in_the_metrics(operator: Client) -> None:
    await operator.post("/api/notes", {"title": "x"})
    text = (await operator.get("/api/metrics")).raw

    assert promtool("check", "metrics", given=text) == ""
