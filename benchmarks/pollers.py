"""Many workers elsewhere in one process, each on a connection of its own: wait for a job, say when it came, complete it.

Reads tokens from standard input, one a line, and prints `waiting` once all have asked, then `<job> <moment>` for each job.
"""

import argparse
import asyncio
import json
import sys
import time
from typing import Any

KIND = "x.integrator-demo.lane-report"
WAIT_SECONDS = 30
_REPORT = {"lane": "north", "shipments": 1, "on_time": 1.0}


class Poller:
    """One worker and its connection."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def poll(self) -> None:
        """Claim and complete, for ever."""
        while True:
            status, claimed = await self._say("/api/workers/claim", {"kinds": [KIND], "max_wait": WAIT_SECONDS})
            came = time.monotonic()
            if status == 200:
                id, token = claimed["job"]["id"], claimed["claim_token"]
                print(id, came, flush=True)
                await self._say(f"/api/workers/jobs/{id}/complete", {"claim_token": token, "result": _REPORT})
            elif status != 204:
                raise RuntimeError(f"{status}: {claimed}")

    async def _say(self, path: str, body: Any) -> tuple[int, Any]:
        raw = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\nContent-Length: {len(raw)}\r\n\r\n"
        self._writer.write(head.encode() + raw)
        answered = await self._reader.readuntil(b"\r\n\r\n")
        length = next((int(line[15:]) for line in answered.split(b"\r\n") if line.startswith(b"content-length:")), 0)
        body = await self._reader.readexactly(length)
        return int(answered.split(b" ", 2)[1]), json.loads(body) if body else None


async def _poll(port: int, tokens: list[str]) -> None:
    pollers = [Poller(port, token) for token in tokens]
    polling = []
    for poller in pollers:
        await poller.connect()
        polling.append(asyncio.create_task(poller.poll()))
        # As workers do that were started at different times: their asking is spread over the whole wait.
        await asyncio.sleep(WAIT_SECONDS / len(pollers) if len(pollers) > 100 else 0)
    print("waiting", flush=True)
    await asyncio.gather(*polling)


def main() -> None:
    """Poll until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    asyncio.run(_poll(options.port, sys.stdin.read().split()))


if __name__ == "__main__":
    main()
