"""The release before this one, on the schema of this one: `python -m tests.processes.upgrades.previous [TEST...]`.

An upgrade migrates while processes of the last release still serve, so what this release does to the schema must leave them able to.
The last release is the newest tag below what is checked out; while there is none, the commit that `previous_release` names.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from atrium.kit.postgres.migrate import migrate
from tests.postgres import private_server
from tests.support.processes import ROOT

NAMED = Path(__file__).with_name("previous_release")
# What people and programs do most, in little time: signing in, notes, files, search, jobs, leaving.
CHOSEN = (
    "tests/domains/notes/test_api.py",
    "tests/domains/notes/test_history.py",
    "tests/domains/repository/test_api.py",
    "tests/domains/repository/test_verbs.py",
    "tests/domains/documents/test_api.py",
    "tests/domains/trash/test_api.py",
    "tests/domains/jobs/test_api.py",
    "tests/domains/identity/test_sessions.py",
    "tests/domains/identity/test_members.py",
    "tests/domains/identity/test_leaving.py",
    "tests/domains/executors/test_api.py",
    "tests/domains/search/test_finding.py",
    "tests/domains/search/test_freshness.py",
    "tests/domains/search/test_leaks.py",
)
# Faults of that release, each mended here: they are not about the schema.
FLAWED = (
    # Emptying the trash passed over what another transaction was using.
    "tests/domains/trash/test_api.py::test_emptying_takes_what_the_caller_deleted_and_nothing_else",
)
# Where these stand in a release that is older than the order by domain.
_FORMERLY = {
    "tests/domains/notes/test_api.py": "tests/api/test_notes.py",
    "tests/domains/notes/test_history.py": "tests/api/test_note_history.py",
    "tests/domains/repository/test_api.py": "tests/api/test_repository.py",
    "tests/domains/repository/test_verbs.py": "tests/api/test_repository_verbs.py",
    "tests/domains/documents/test_api.py": "tests/api/test_documents.py",
    "tests/domains/trash/test_api.py": "tests/api/test_trash.py",
    "tests/domains/jobs/test_api.py": "tests/api/test_jobs.py",
    "tests/domains/identity/test_sessions.py": "tests/api/test_sessions.py",
    "tests/domains/identity/test_members.py": "tests/api/test_members.py",
    "tests/domains/identity/test_leaving.py": "tests/api/test_leaving.py",
    "tests/domains/executors/test_api.py": "tests/api/test_executors.py",
    "tests/domains/search/test_finding.py": "tests/search/test_finding.py",
    "tests/domains/search/test_freshness.py": "tests/search/test_freshness.py",
    "tests/domains/search/test_leaks.py": "tests/search/test_leaks.py",
}


class NoPreviousRelease(Exception):
    """The commit is not in this checkout; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What the last release's tests said."""

    code: int
    output: str
    seconds: float


def name_previous(root: Path = ROOT) -> str:
    """The commit of the last release, which must be here."""
    tagged = _git(root, "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^")
    name = tagged.stdout.strip() if tagged.returncode == 0 else (root / NAMED.relative_to(ROOT)).read_text().strip()
    if _git(root, "cat-file", "-e", f"{name}^{{commit}}").returncode != 0:
        raise NoPreviousRelease(
            f"the last release, {name}, is not in this checkout, so whether it runs on this schema cannot be told;"
            " fetch the whole history: git fetch --unshallow --tags"
        )
    return name


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def stood_at(name: str, test: str) -> str:
    """The name of a test in that release: until tests stood by domain it was another one."""
    path, _, function = test.partition("::")
    if path not in _FORMERLY or _git(ROOT, "cat-file", "-e", f"{name}:{path}").returncode == 0:
        return test
    return f"{_FORMERLY[path]}::{function}" if function else _FORMERLY[path]


def check_out(name: str, folder: Path, root: Path = ROOT) -> None:
    """The files of that commit, with this release's migrations in place of its own."""
    with subprocess.Popen(["git", "archive", name], cwd=root, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    assert archive.returncode == 0
    shutil.rmtree(folder / "migrations")
    shutil.copytree(root / "migrations", folder / "migrations")


def run_previous(tests: Sequence[str], *options: str) -> Ran:
    """Run tests of the last release on a PostgreSQL whose every new database has this release's schema already."""
    name = name_previous()
    with tempfile.TemporaryDirectory(prefix="atrium-previous-") as made, private_server() as maintenance:
        folder = Path(made)
        check_out(name, folder)
        asyncio.run(migrate(urlunsplit(urlsplit(maintenance)._replace(path="/template1"))))
        seen = os.environ | {
            "ATRIUM_TEST_DATABASE_URL": maintenance,
            "PYTHONPATH": os.pathsep.join((str(folder / "src"), str(folder))),
        }
        began = time.monotonic()
        passed_over = [option for one in FLAWED for option in ("--deselect", stood_at(name, one))]
        chosen = [stood_at(name, one) for one in tests]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *passed_over, *options, *chosen]
        ended = subprocess.run(
            command, cwd=folder, env=seen, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return Ran(ended.returncode, ended.stdout.decode(errors="replace"), time.monotonic() - began)


if __name__ == "__main__":
    ran = run_previous(sys.argv[1:] or CHOSEN, "-n", "0", "--durations", "15")
    print(f"{ran.output}\n{ran.seconds:.1f} s")
    sys.exit(ran.code)
