"""Logs tell where something failed and never what it was working on."""

import json
import subprocess
import sys
from typing import Any

import asyncpg
import pytest

from atrium.kit.errors import Conflict
from atrium.kit.telemetry.exceptions import describe, traceback_of

WORD = "zebracanary"
LOGGED = f"""
import asyncio, logging
from atrium.kit.telemetry.log import log, report_of_loop, set_up_logging

WORD = "{WORD}"
set_up_logging("info")

def fail(number=None):
    raise ValueError(f"no number: {{WORD}}")

try:
    fail()
except ValueError as error:
    log.error("with.frames", exc_info=error)
    log.warning("as.value", error=error)
    logging.getLogger("a.library").error("it failed", exc_info=error)

async def forget():
    asyncio.get_running_loop().set_exception_handler(report_of_loop)
    async def task():
        fail()
    held = asyncio.create_task(task())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del held
    import gc
    gc.collect()

asyncio.run(forget())
"""


def test_no_message_of_an_exception_is_written_by_us_a_library_or_the_event_loop() -> None:
    done = subprocess.run([sys.executable, "-c", LOGGED], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]

    assert WORD not in done.stderr
    assert [line["event"] for line in lines] == ["with.frames", "as.value", "it failed", "loop.failed"]
    assert lines[1]["error"] == "ValueError"
    for line in (lines[0], lines[2], lines[3]):
        assert "in fail" in line["exception"]
        assert line["exception"].endswith("ValueError")
    assert lines[3]["problem"] == "Task exception was never retrieved"


def postgres_error() -> BaseException:
    error = asyncpg.UniqueViolationError(f"duplicate key {WORD}")
    error.detail, error.table_name, error.constraint_name = f"Key (title)=({WORD}) exists.", "notes", "notes_pkey"
    return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError(WORD), "ValueError"),
        (Conflict(f"{WORD} is there already"), "Conflict: request.conflict"),
        (FileNotFoundError(2, "No such file", f"/{WORD}.txt"), "FileNotFoundError: No such file or directory"),
        (OSError(f"Multiple exceptions: {WORD}"), "OSError"),
        (postgres_error(), "UniqueViolationError: sqlstate=23505, table_name=notes, constraint_name=notes_pkey"),
        (UnicodeEncodeError("utf-8", WORD, 0, 1, WORD), "UnicodeEncodeError"),
    ],
)
def test_a_line_about_an_exception_has_its_kind_and_no_word(error: BaseException, line: str) -> None:
    assert describe(error) == line


def test_causes_and_members_of_a_group_are_told_without_their_words() -> None:
    def fail(error: BaseException, cause: BaseException | None = None) -> Any:
        raise error from cause

    inner = ExceptionGroup(WORD, [KeyError(WORD), TypeError(WORD)])
    with pytest.raises(LookupError) as raised:
        fail(LookupError(WORD), inner)
    text = traceback_of(raised.value)

    assert WORD not in text
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "TypeError",
        "KeyError",
        "ExceptionGroup",
        "LookupError",
    ]


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError(WORD), TypeError(WORD)
    one.__cause__, other.__cause__ = other, one

    assert traceback_of(one).splitlines() == ["TypeError", "ValueError"]
