"""Paths that must not climb out of their folder, however they are spelled."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.files.paths import path_inside, shipped_path

CLIMBS = ["..", "../", "..\\", "%2e%2e", "....//", "..;/", "../.", "./..", "..%2f", "..\0", "\u2025", "．．"]  # noqa: RUF001
TARGETS = ["secret.txt", "etc/passwd", "outside/secret.txt", "", "."]
STARTS = ["", "/", "//", "\\", "a/", "a/b/", "./", "file:///", "C:\\"]
VECTORS = sorted(
    {
        f"{start}{climb * times}{separator}{target}"
        for start, climb, times, target, separator in itertools.product(STARTS, CLIMBS, (1, 4), TARGETS, ("/", ""))
    }
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files in it, next to a secret, with links that lead there."""
    home = tmp_path_factory.mktemp("paths")
    (home / "secret.txt").write_text("secret")
    (home / "outside").mkdir()
    (home / "outside" / "secret.txt").write_text("secret")
    root = home / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "file.txt").write_text("fine")
    (root / "a" / "b" / "deep file.txt").write_text("fine")
    (root / "link.txt").symlink_to(home / "secret.txt")
    (root / "inner.txt").symlink_to(root / "file.txt")
    (root / "linked").symlink_to(home / "outside")
    (root / "loop").symlink_to(root / "loop")
    return root


def is_safe(root: Path, relative: str) -> bool:
    """Nothing at all, or a real file that lies below the folder."""
    found = path_inside(root, relative)
    return found is None or (found.is_file() and found.resolve() == found and root in found.parents)


@pytest.mark.parametrize("relative", ["file.txt", "a/b/deep file.txt"])
def test_a_file_below_is_found(root: Path, relative: str) -> None:
    assert path_inside(root, relative) == root / relative


@pytest.mark.parametrize(
    "relative", ["", "/", ".", "a", "a/b", "a/b/", "absent.txt", "a/absent/file.txt", "file.txt/", "file.txt/more"]
)
def test_what_is_no_file_is_nothing(root: Path, relative: str) -> None:
    assert path_inside(root, relative) is None


def test_there_are_many_ways_to_climb_and_none_works(root: Path) -> None:
    assert len(VECTORS) >= 200
    assert [vector for vector in VECTORS if not is_safe(root, vector)] == []
    assert [vector for vector in VECTORS if path_inside(root, vector) is not None] == []


@pytest.mark.parametrize(
    "relative", ["link.txt", "inner.txt", "linked", "linked/secret.txt", "loop", "loop/file.txt", "a/../linked/secret.txt"]
)  # fmt: skip
def test_a_link_is_not_followed_wherever_it_leads(root: Path, relative: str) -> None:
    assert path_inside(root, relative) is None


@pytest.mark.parametrize("relative", ["x" * 300, "a/" * 5000 + "x", "\ud800", "a\nb", "nul\0"])
def test_a_name_no_file_can_have_is_nothing(root: Path, relative: str) -> None:
    assert path_inside(root, relative) is None


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b", "root", "linked", "file.txt", "~", "\\"]), max_size=8))
def test_no_mixture_of_segments_climbs_out(root: Path, segments: list[str]) -> None:
    assert is_safe(root, "/".join(segments))


@given(st.text(max_size=40))
def test_no_text_climbs_out(root: Path, relative: str) -> None:
    assert is_safe(root, relative)


@pytest.mark.parametrize("name", ["migrations", "plugins"])
def test_what_ships_is_found(name: str) -> None:
    assert shipped_path(name).is_dir()
