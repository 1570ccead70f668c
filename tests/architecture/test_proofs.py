"""Which tests proofs reach, and how what they say is read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import proofs
from tests.processes.start import older_schemas
from tests.proofs import Part, is_run_whole, parts_below, read_report
from tests.support.processes import ROOT

OF_PYTEST = """<testsuites><testsuite>
<testcase name="test_a"><system-out>[info ] a line of a log
12 of 12 held</system-out></testcase>
<testcase name="test_b"><failure message="assert 1"/></testcase>
<testcase name="test_c"><skipped message="no PostgreSQL 18"/></testcase>
</testsuite></testsuites>"""
OF_NODE = """<testsuites>
<testsuite name="ten thousand tokens"><testcase name="as prose"/><!-- the longest task took 31 ms -->
<testcase name="as a list"><failure type="testCodeFailure"/></testcase><!-- the longest task took 70 ms --></testsuite>
<testcase name="is painted soon"/><!-- painted after 310, 290 ms -->
<!-- tests 3 --><!-- suites 1 --><!-- fail 1 --><!-- duration_ms 812.5 -->
</testsuites>"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / f"tests/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_proofs_reach_what_is_marked_what_draws_and_what_is_larger_there(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_marked="@pytest.mark.proof\ndef test_a(): ...",
        test_larger="from tests.support.processes import PROOFS\nSEEDS = 40 if PROOFS else 3",
        test_drawn="from hypothesis import given",
        test_played="from tests.support.state_machines import run_machine",
        test_full="from tests.support.sizes import FULL\n",
        test_plain="def test_a(): ...",
        larger="from tests.support.processes import PROOFS\n",
    )
    reached = ["tests/test_drawn.py", "tests/test_larger.py", "tests/test_marked.py", "tests/test_played.py"]

    assert parts_below(["tests"], tmp_path, full=False) == [*reached, "tests/processor.py"]
    assert parts_below(["tests/test_plain.py"], tmp_path, full=False) == []
    assert "tests/test_full.py" in parts_below(["tests"], tmp_path, full=True)


@pytest.mark.parametrize("path", ["tests/domains/quotas/test_storage.py", "tests/domains/branding/test_theme.py"])
def test_sizes_without_a_mark_are_reached(path: str) -> None:
    assert parts_below([path], full=False) == [path]
    assert is_run_whole((ROOT / path).read_text(), full=False)


def test_a_full_size_is_reached_where_it_is_asked_for() -> None:
    # What is only there at full size is marked as a proof, too.
    only = "from tests.support.sizes import FULL_ONLY\n"

    assert is_run_whole("from tests.support.sizes import FULL\n", full=True)
    assert not is_run_whole("from tests.support.sizes import FULL\n", full=False)
    assert not is_run_whole(only, full=True)
    assert is_run_whole((ROOT / "tests/domains/workflows/test_definitions.py").read_text(), full=True)


@pytest.mark.parametrize(
    ("paths", "parts"),
    [
        (["console/e2e/figures"], ["console/e2e/figures"]),
        (["console"], ["console/e2e/screens", "console/e2e/figures"]),
        (["tests/processor.py"], ["tests/processor.py"]),
        (["tests/processor.py", "console/e2e/screens"], ["tests/processor.py", "console/e2e/screens"]),
    ],
)
def test_a_part_is_asked_for_by_its_path(paths: list[str], parts: list[str]) -> None:
    assert parts_below(paths) == parts


def test_everything_is_every_part() -> None:
    assert parts_below([])[-3:] == ["tests/processor.py", "console/e2e/screens", "console/e2e/figures"]


def test_pytests_report_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(OF_PYTEST)
    part = Part("abc", 1)

    read_report(tmp_path / "report.xml", part)

    assert (part.tests, part.failed, part.skipped) == (3, ["test_b"], {"test_c": "no PostgreSQL 18"})
    assert part.figures == {"test_a": ["12 of 12 held"]}


def test_nodes_report_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(OF_NODE)
    part = Part("abc", 1)

    read_report(tmp_path / "report.xml", part)

    assert (part.tests, part.failed) == (3, ["as a list"])
    assert part.figures == {
        "as prose": ["the longest task took 31 ms"],
        "as a list": ["the longest task took 70 ms"],
        "is painted soon": ["painted after 310, 290 ms"],
    }


def test_node_reports_what_a_test_measured(tmp_path: Path) -> None:
    suite, report = tmp_path / "one.test.mjs", tmp_path / "report.xml"
    suite.write_text("import { it } from 'node:test';\nit('is soon', (run) => run.diagnostic('after 3 ms'));\n")
    run = proofs.run_of("console/e2e/figures", 1, report)
    part = Part("abc", 1)

    ran = subprocess.run(["node", "--test", str(suite)], env=run.seen, capture_output=True, text=True, check=False)
    read_report(report, part)

    assert ran.returncode == 0, ran.stderr
    assert "is soon" in ran.stdout
    assert (part.tests, part.failed, part.figures) == (1, [], {"is soon": ["after 3 ms"]})


def test_a_part_that_fails_keeps_no_other_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = {"tests/a/test_a.py": 3, "tests/b/test_b.py": 0, "console/e2e/figures": 1}
    monkeypatch.setattr(proofs, "FIGURES", tmp_path / "proofs.json")
    monkeypatch.setattr(proofs, "parts_below", lambda _: list(codes))
    monkeypatch.setattr(
        proofs,
        "run_of",
        lambda name, _, report: proofs.Run(
            [sys.executable, "-c", f"open({str(report)!r}, 'w').write('<a/>'); raise SystemExit({codes[name]})"], {}
        ),
    )

    code = proofs.main([])

    kept = json.loads((tmp_path / "proofs.json").read_text())
    assert code == 1
    assert {name: part["failed"] for name, part in kept.items()} == {
        "tests/a/test_a.py": ["ended with 3"], "tests/b/test_b.py": [], "console/e2e/figures": ["ended with 1"],
    }  # fmt: skip
    assert "FAILED tests/a/test_a.py::ended with 3" in capsys.readouterr().out


def test_a_schema_is_proven_only_where_its_proofs_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [Part("abc", 1, failed=["test_a"]), Part("abc", 1)]
    kept: list[int] = []
    monkeypatch.setattr(proofs, "FIGURES", tmp_path / "proofs.json")
    monkeypatch.setattr(proofs, "prove", lambda *_: held.pop(0))
    monkeypatch.setattr(older_schemas, "keep", lambda: kept.append(len(held)))

    codes = [proofs.main(["tests/processes/start/test_migrations.py"]) for _ in range(2)]

    assert (codes, kept) == ([1, 0], [0])
