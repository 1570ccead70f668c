"""What a worker says to the server, and what it hears."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

_PATIENCE = 15.0
# Characters of a reply in one heartbeat.
_MOST_SAID = 100_000


class Refused(Exception):
    """The server said no; trying the same again would not help."""


class WordsMissing(Exception):
    """The server has heard less of a reply than we thought; `heard` is how much."""

    def __init__(self, heard: int) -> None:
        super().__init__(f"the server has heard {heard} characters")
        self.heard = heard


class StaleClaim(Exception):
    """The claim is no longer ours: the lease ran out, or the job was taken back."""


@dataclass
class Job:
    """One attempt at a job; `cancelled` turns true when its result is no longer wanted."""

    id: str
    kind: str
    input: Any
    attempt: int
    model: "str | None"
    claim_token: str = field(repr=False)
    lease_expires_at: datetime
    cancelled: bool = False
    said: str = field(default="", repr=False)
    # How much of `said` the server has heard.
    heard: int = field(default=0, repr=False)

    def say(self, text: str) -> None:
        """How the reply goes on; people who follow the turn hear it with the next heartbeat."""
        # Half of a surrogate pair cannot be sent, and PostgreSQL stores no NUL.
        self.said += text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")

    def seconds_left(self) -> float:
        """How long the lease still holds, by this machine's clock."""
        return (self.lease_expires_at - datetime.now(UTC)).total_seconds()


class Server:
    """A server, spoken to with one worker's token."""

    def __init__(self, url: str, token: str, *, transport: "httpx.AsyncBaseTransport | None" = None) -> None:
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={"authorization": f"Bearer {token}", "user-agent": "atrium-worker"},
            timeout=httpx.Timeout(_PATIENCE),
            transport=transport,
        )
        # An older server refuses to be told what is said.
        self._listens = True

    async def claim(self, kinds: "list[str]", models: "list[str]", max_wait: float) -> "Job | None":
        """Wait up to `max_wait` seconds (at most 30) for a job of these kinds."""
        body = {"kinds": kinds, "models": models, "max_wait": max_wait}
        answer = await self._say("/api/workers/claim", body, max_wait + _PATIENCE)
        if answer.status_code == 204:
            return None
        found = answer.json()
        job = found["job"]
        return Job(
            id=job["id"],
            kind=job["kind"],
            input=job["input"],
            attempt=job["attempt"],
            model=job.get("model"),
            claim_token=found["claim_token"],
            lease_expires_at=_moment(found["lease_expires_at"]),
        )

    async def extend(self, job: Job) -> None:
        """Keep the lease; learns whether the job is still wanted."""
        found = await self._heartbeat(job)
        job.lease_expires_at = _moment(found["lease_expires_at"])
        job.cancelled = job.cancelled or bool(found["cancel_requested"])

    async def _heartbeat(self, job: Job) -> "dict[str, Any]":
        if self._listens and len(job.said) > job.heard:
            text = job.said[job.heard : job.heard + _MOST_SAID]
            try:
                found = (await self._of(job, "heartbeat", {"said": {"at": job.heard, "text": text}})).json()
                job.heard += len(text)
                return dict(found)
            except WordsMissing as gap:
                job.heard = gap.heard
            except Refused:
                self._listens = False
        return dict((await self._of(job, "heartbeat", {})).json())

    async def complete(self, job: Job, result: Any) -> None:
        """Hand in a result; `Refused` when the job's kind does not take it."""
        await self._of(job, "complete", {"result": result})

    async def fail(self, job: Job, error: str) -> None:
        """Say that this attempt did not work."""
        await self._of(job, "fail", {"error": error[:4000] or "failed without a reason"})

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()

    async def _of(self, job: Job, verb: str, body: "dict[str, Any]") -> httpx.Response:
        return await self._say(f"/api/workers/jobs/{job.id}/{verb}", {**body, "claim_token": job.claim_token})

    async def _say(self, path: str, body: "dict[str, Any]", seconds: float = _PATIENCE) -> httpx.Response:
        answer = await self._client.post(path, json=body, timeout=seconds)
        if answer.status_code == 409:
            raise _conflict(answer)
        if 400 <= answer.status_code < 500 and answer.status_code != 429:
            raise Refused(f"{answer.status_code}: {_reason(answer)}")
        answer.raise_for_status()
        return answer


def _conflict(answer: httpx.Response) -> Exception:
    try:
        found = answer.json()
        if found["code"] == "jobs.words_missing":
            return WordsMissing(int(found["heard"]))
    except (ValueError, KeyError, TypeError):
        pass
    return StaleClaim(_reason(answer))


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200] or answer.reason_phrase


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
