"""Sentences name their subject, and names come from the field, not from the image of the house."""

import pytest

from tests.architecture.words import KEPT, ROOT, activities, identifiers, is_kept, listed, second_meanings, sentences

MOST_KEPT = 25


def test_no_sentence_hides_its_subject_and_no_name_comes_from_the_house() -> None:
    found = [line for line in listed() if not is_kept(line)]

    assert found == []


def test_what_is_kept_is_still_there_and_little() -> None:
    lines = listed()

    assert len(KEPT) < MOST_KEPT
    assert [key for key in KEPT if not any(line.startswith(f"{key[0]}: ") and key[1] in line for line in lines)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/a.py", '"""Whoever waits is woken."""'),
        ("src/a.py", "x = 1  # nobody reads it"),
        ("src/a.py", 'raise Refusal("somebody else has it")'),
        ("src/a.py", '"""Opens the door."""'),
        ("docs/a.md", "Nobody may do that."),
    ],
)
def test_a_planted_sentence_is_found(path: str, text: str) -> None:
    assert len(list(sentences(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("src/a.py", "class Bell: ...", "Bell"),
        ("src/a.py", "def ring_twice(): ...", "ring_twice"),
        ("src/a.py", "def open(front_door): ...", "front_door"),
        ("src/a.py", "self._house = 1", "_house"),
        ("src/rooms.py", "", "rooms"),
    ],
)
def test_a_planted_name_is_found(path: str, text: str, name: str) -> None:
    assert list(identifiers(path, text)) == [f"{path}: identifier {name}"]


def test_plain_text_is_left_alone() -> None:
    assert list(sentences("src/a.py", 'house = 1  # no "else" here\n"""Anyone may read a string."""')) == []
    assert list(identifiers("src/a.py", "def bring(string, housekeeping): ...")) == []


@pytest.mark.parametrize(
    ("path", "found"), [("src/atrium/kit/pacing.py", "pacing"), ("src/atrium/edge/serving/app.py", "serving")]
)
def test_a_planted_module_is_found(path: str, found: str) -> None:
    assert list(activities(path)) == [f"{path}: module {found}"]


def test_a_field_of_work_keeps_its_name() -> None:
    assert list(activities("src/atrium/ground/sharing/rule.py")) == []


def test_a_class_name_has_one_meaning() -> None:
    assert (
        second_meanings((str(file.relative_to(ROOT)), file.read_text()) for file in sorted(ROOT.glob("src/**/*.py")))
        == []
    )


def test_a_planted_second_meaning_is_found() -> None:
    planted = [
        ("src/a.py", "class Kept: ..."),
        ("src/b.py", "class Kept:\n  class Kept: ..."),
        ("src/c.py", "class Found: ..."),
    ]

    assert second_meanings(planted) == ["class Kept: src/a.py, src/b.py"]
