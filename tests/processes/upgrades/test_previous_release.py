"""Processes of the last release go on serving while and after this one migrates: expand first, contract a release later."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.processes.upgrades.previous import CHOSEN, NAMED, NoPreviousRelease, name_previous, run_previous
from tests.support.processes import ROOT


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_the_last_release_passes_its_own_tests_on_this_schema() -> None:
    try:
        name_previous()
    except NoPreviousRelease as missing:
        # An archive of the files, or a shallow clone, can be tested all the same; where changes land the history must be there.
        if os.environ.get("ATRIUM_WHOLE_HISTORY"):
            raise
        pytest.skip(str(missing))
    ran = run_previous(CHOSEN, "-n", "0", "-x")

    assert ran.code == 0, ran.output[-20_000:]
    print(f"the last release's tests took {ran.seconds:.1f} s")


def git(folder: Path, *arguments: str) -> str:
    alone = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *alone, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A repository of three commits without a tag, whose newest names the first."""
    git(tmp_path, "init", "-q", "-b", "main", ".")
    for number in range(3):
        (tmp_path / "file").write_text(str(number))
        if number == 2:
            named = tmp_path / NAMED.relative_to(ROOT)
            named.parent.mkdir(parents=True)
            named.write_text(git(tmp_path, "rev-list", "--max-parents=0", "HEAD") + "\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"file: Be {number}.")
    return tmp_path


def test_the_newest_tag_below_is_the_last_release_and_a_commit_until_there_is_one(history: Path) -> None:
    named = name_previous(history)
    git(history, "tag", "v1.0.0", "HEAD^")
    tagged = name_previous(history)
    git(history, "tag", "v2.0.0", "HEAD")

    assert named == git(history, "rev-list", "--max-parents=0", "HEAD")
    assert (tagged, name_previous(history)) == ("v1.0.0", "v1.0.0")


def test_a_checkout_without_the_last_release_says_what_to_do(
    history: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    git(history, "clone", "-q", "--depth", "1", f"file://{history}", str(shallow))

    with pytest.raises(NoPreviousRelease, match="git fetch --unshallow --tags"):
        name_previous(shallow)
