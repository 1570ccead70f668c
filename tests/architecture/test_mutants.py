"""What mutants change is there to be changed, and of a function of the schema it is the newest definition."""

from pathlib import Path

import pytest

from tests import mutants as findings
from tests.domains.jobs import mutants as jobs
from tests.domains.workflows import mutants as workflows
from tests.support import schema_functions
from tests.support.processes import ROOT

OLDER = """
CREATE FUNCTION one(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION plain() RETURNS int LANGUAGE sql AS 'SELECT 1';
DO $$ BEGIN PERFORM 1; END $$;
CREATE FUNCTION two() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($query$ SELECT 1 $query$);
END $$;
"""
NEWER = """
DROP FUNCTION one(int);
CREATE FUNCTION one(a int, b int) RETURNS int LANGUAGE sql AS $$ SELECT 2 $$;
ALTER FUNCTION one(int, int) OWNER TO atrium_system;
CREATE OR REPLACE FUNCTION three() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
"""


def test_a_later_migration_makes_the_newest_definition(tmp_path: Path) -> None:
    (tmp_path / "0001_older.sql").write_text(OLDER)
    (tmp_path / "0002_newer.sql").write_text(NEWER)

    found = schema_functions.newest(tmp_path)

    assert {name: one.file for name, one in found.items()} == {
        "one": "migrations/0002_newer.sql", "two": "migrations/0001_older.sql", "three": "migrations/0002_newer.sql",
    }  # fmt: skip
    assert (
        found["one"].replacing
        == "CREATE OR REPLACE FUNCTION one(a int, b int) RETURNS int LANGUAGE sql AS $$ SELECT 2 $$;"
    )
    assert found["two"].text.endswith("$query$);\nEND $$;")
    assert found["three"].replacing == found["three"].text


@pytest.mark.parametrize(
    ("function", "phrase"),
    [
        ("settle_jobs", "AND NOT j.cancel_asked"),
        ("job_caps_follow", "put_off_for = 'quota'"),
        ("claim_jobs", "passing uuid[]"),
    ],
)
def test_what_later_migrations_added_is_in_the_definition(function: str, phrase: str) -> None:
    assert phrase in schema_functions.newest()[function].text


@pytest.mark.parametrize("mutant", jobs.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_queue_changes_its_function(mutant: jobs.Mutant) -> None:
    whole = jobs.slowed() if mutant.function == "claim_jobs" else schema_functions.newest()[mutant.function].replacing

    changed = jobs.mutated(mutant)

    assert changed != whole
    assert changed.startswith(f"CREATE OR REPLACE FUNCTION {mutant.function}(")


@pytest.mark.parametrize("mutant", [*findings.MUTANTS, *workflows.MUTANTS], ids=lambda mutant: mutant.name)
def test_a_mutant_of_a_file_changes_what_is_used(mutant: findings.Mutant | workflows.Mutant) -> None:
    assert mutant.phrase in (ROOT / mutant.file).read_text()
    if mutant.file.startswith("migrations/"):
        newest = [one.text for one in schema_functions.newest().values() if one.file == mutant.file]
        assert any(mutant.phrase in text for text in newest)
