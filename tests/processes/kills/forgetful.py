"""A server or worker that keeps no receipts, so that effects of lost attempts are repeated.

`python -m tests.processes.kills.forgetful serve|work …`
"""

import asyncio
from typing import Any

from atrium.cli import main
from atrium.engine.workflows import attempt_rows, step_attempt
from atrium.engine.workflows.progress import StepResult

_run_step = step_attempt.run_step


async def keep(*_: Any) -> bool:
    """A mistake on purpose: the effect commits, and nothing says that it did."""
    return True


async def run_step(*given: Any) -> StepResult:
    """The same, with a longer moment between the effect and the end of the attempt, so that kills land in it."""
    result = await _run_step(*given)
    await asyncio.sleep(0.1)
    return result


if __name__ == "__main__":
    attempt_rows.keep = keep  # type: ignore[assignment]
    step_attempt.run_step = run_step  # type: ignore[assignment]
    raise SystemExit(main())
