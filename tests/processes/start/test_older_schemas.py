"""The gate migrates from every older schema once a migration changed, and from the newest few while the proofs speak for the others."""

from pathlib import Path

import pytest

from tests.processes.start.older_schemas import NEWEST, are_proven, is_of_the_gate, keep


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations/0001_one.sql").write_text("SELECT 1;\n")
    return tmp_path / "migrations"


def test_migrations_are_proven_until_one_changes(folder: Path, tmp_path: Path) -> None:
    figures = tmp_path / "migrations.json"
    assert not are_proven(figures, folder)

    keep(figures, folder)

    assert are_proven(figures, folder)
    (folder / "0002_two.sql").write_text("SELECT 2;\n")
    assert not are_proven(figures, folder)
    keep(figures, folder)
    (folder / "0002_two.sql").write_text("SELECT 3;\n")
    assert not are_proven(figures, folder)


@pytest.mark.parametrize(
    ("proven", "proving", "of_the_gate"),
    [(True, False, NEWEST), (False, False, 99), (True, True, NEWEST), (False, True, NEWEST)],
)
def test_the_gate_takes_all_or_the_newest(proven: bool, proving: bool, of_the_gate: int) -> None:
    chosen = [number for number in range(1, 100) if is_of_the_gate(number, 100, proven=proven, proving=proving)]

    assert chosen == list(range(100 - of_the_gate, 100))
