"""What a job costs, side by side in one run: ours, bare SKIP LOCKED without any rule, and the other queues on PostgreSQL.

python -m benchmarks.bench_queue [--python /path/to/venv/bin/python] [--jobs 20000] [--rounds 3] [queue ...]

The other queues are no dependency of ours; `--python` is an interpreter that has procrastinate, pgqueuer and dbos installed.
Each queue has a database of its own, one worker process and jobs that do nothing; the queues take turns within a round.
"""

import argparse
import asyncio
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.drains import OURS, Figures, Workers, summed_up, told

WORKERS = Path(__file__).with_name("queue_workers.py")
ALL = (*OURS, "pgqueuer", "procrastinate", "dbos")
# The slow ones get fewer jobs; a figure per job does not change by it.
SHARE = {"procrastinate": 0.1, "dbos": 0.05, "pgqueuer": 0.5}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("queues", nargs="*", default=list(ALL))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    workers, figures = Workers(WORKERS, options.python), defaultdict[str, list[Figures]](list)
    for number in range(options.rounds):
        for queue in options.queues:
            found = await workers.drain(queue, int(options.jobs * SHARE.get(queue, 1)))
            figures[queue].append(found)
            told(number, queue, found, "job")
    summed_up(figures, "job")


if __name__ == "__main__":
    asyncio.run(main())
