"""A short run of the labelled set: a change that makes search answer worse fails here. The whole set is `benchmarks.bench_relevance`."""

import shutil
import subprocess
from collections import Counter
from random import Random

import pytest

from benchmarks import workspace_questions
from benchmarks.man_pages import FOLDER, ManPage, Question, download, questions_of, read_pages
from benchmarks.relevance import measure, misspelt, ndcg
from benchmarks.workspace_texts import TEXTS

PACKAGES = ("manpages", "coreutils", "git-man")
QUESTIONS, TITLES = 200, 60
# What was measured when this was written, and how much of it a change may lose.
NDCG, WORKSPACE, LOSS = 0.761, 0.928, 0.02


@pytest.fixture(scope="module")
def pages() -> list[ManPage]:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("the labelled set is read out of Debian's packages")
    try:
        return read_pages(download(FOLDER, PACKAGES))
    except subprocess.CalledProcessError:
        pytest.skip("the packages of the labelled set cannot be downloaded")


async def test_search_answers_as_well_as_it_did(pages: list[ManPage]) -> None:
    found = await measure(pages, questions_of(pages, QUESTIONS), TITLES)

    assert found.ndcg >= NDCG - LOSS
    assert found.misspelt >= 0.95
    assert found.exact >= 0.99


async def test_search_answers_a_workspace_in_four_languages_as_well_as_it_did() -> None:
    found = await measure(TEXTS, workspace_questions.questions(40), TITLES)

    assert found.ndcg >= WORKSPACE - LOSS
    assert found.by_locale.keys() == {"en", "es", "nl", "is"}


def test_two_hundred_questions_are_answered_by_notes_that_are_there() -> None:
    asked = workspace_questions.questions()

    assert Counter(row.locale for row in workspace_questions.ROWS) == dict.fromkeys(("en", "es", "nl", "is"), 50)
    assert len({(one.text, one.locale) for one in asked}) == 200
    assert {TEXTS[at].locale for one in asked for at in one.answers if TEXTS[at].locale != one.locale} == set()
    assert {at for one in asked for at in one.answers} == set(range(len(TEXTS)))


def test_the_measure_prefers_the_page_itself_first() -> None:
    answers = Question("x", {1: 3, 2: 1}).answers

    assert ndcg([1, 2], answers) == 1
    assert ndcg([2, 1], answers) < 0.8
    assert ndcg([3], answers) == 0


def test_a_misspelt_title_differs_by_one_letter() -> None:
    assert {len(misspelt("directory", Random(seed))) for seed in range(40)} == {8, 9, 10}
