"""`python -m tests.processes.kills.killed STEP ARGUMENTS...`: a command of `atrium` that is killed at one of its steps."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from atrium import cli
from atrium.admin.moving import archive, arrival, departure, store


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _after(module: Any, name: str, when: Callable[..., bool] = lambda *given: True) -> None:
    work = getattr(module, name)

    async def then_die(*given: Any, **named: Any) -> Any:
        result = await work(*given, **named)
        if when(*given):
            _die()
        return result

    setattr(module, name, then_die)


def _finished(draft: archive.Draft, *given: Any) -> str:
    _FINISH(draft, *given)
    _die()
    return ""


async def _killed_before(*given: Any) -> int:
    _die()
    return 0


_FINISH = archive.Draft.finish
STEPS: dict[str, Callable[[], None]] = {
    "marked": lambda: _after(departure, "_mark"),
    "rows written": lambda: _after(departure, "_write"),
    "archive named": lambda: setattr(archive.Draft, "finish", _finished),
    "archive noted": lambda: _after(departure, "_written"),
    "bytes put": lambda: _after(arrival, "_put_blobs"),
    "half of the rows in": lambda: _after(store, "load_rows", lambda db, table, source: table.name == "notes"),
    "all rows in": lambda: _after(arrival, "_require_equal"),
    "about to commit": lambda: _after(store, "keep_move", lambda db, org, state, *rest: state == "arrived"),
    "committed": lambda: _after(arrival, "_write"),
    "half of the rows gone": lambda: _after(store, "delete_rows", lambda db, table, *rest: table.name == "notes"),
    "about to release": lambda: _after(departure, "_drop"),
    "rows gone, bytes not": lambda: setattr(departure, "_drop_bytes", _killed_before),
}


def main(step: str, arguments: list[str]) -> int:
    """Run the command up to the step, or to its end when there is no such step."""
    if step:
        STEPS[step]()
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
