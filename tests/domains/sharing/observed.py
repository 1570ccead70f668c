"""Every reply that an observer gets: each GET row of the route table with everything that its path and its query can name."""

import base64
import binascii
import io
import itertools
import json
import re
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import inspect

from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import Auth
from tests.domains.sharing.histories import Histories, Observer
from tests.domains.trash.signing import signed_headers
from tests.support.client import Answer
from tests.table.rows import ENDPOINTS, name_of, parameters_of

ROWS = [one for one in ENDPOINTS if one.route.method == "GET"]
WORD = re.compile(rb"canary[0-9a-f]{12}")
_CURSOR = re.compile(rb'"next_cursor":"([^"]+)"')
_MOST_PAGES = 50
# What stands for a parameter of a path: the ids of everything that is or was there.
Values = Callable[[Histories], list[str]]
OBJECTS: Values = lambda told: told.ids("file", "document", "conversation", "entity")  # noqa: E731
IN_PATHS: Mapping[str, Values] = {
    "/api/notes/:id": lambda told: told.ids("note"),
    "/api/notes/:id/versions/:number": lambda told: ["1", "2"],
    "/api/documents/:id": OBJECTS,
    "/api/repo-obj/:id": OBJECTS,
    "/api/runs/:id": lambda told: told.runs,
    "/api/jobs/:id": lambda told: told.jobs,
    "/api/kg/entities/:id": lambda told: told.entities,
    "/api/workflows/:slug": lambda told: told.slugs,
    "/api/doc-triggers/:id": lambda told: told.triggers,
    "/api/orgs/:ref": lambda told: [str(told.conspiracy.company.org.id)],
    # Nothing of a team's.
    "/assets/*path": lambda told: ["index.js"],
    "/beta/bundle/:plugin": lambda told: ["example-tools"],
    "/beta/bundle/:plugin/*path": lambda told: ["style.css"],
    "/api/x/:plugin": lambda told: ["example-tools"],
    "/api/x/:plugin/bundle/*path": lambda told: ["style.css"],
    "/api/beta/asset/:id": lambda told: ["01a1ee0f-1217-712d-b68c-4bda69fbe5eb"],
}
# What a row needs to answer at all, and what is asked besides, one after the other.
NEEDED: Mapping[str, str] = {"q": "plan", "text": "plan", "lane": "AMS-LIS", "locale": "en"}
ASKED: Mapping[str, Values] = {
    "q": lambda told: told.asked_words(),
    "prefix": lambda told: ["plans/", "documents/", "chats/"],
    "scope": lambda told: ["org"],
    "shared": lambda told: ["1"],
    "delimiter": lambda told: ["/"],
    "order": lambda told: ["updated", "size"],
    "dir": lambda told: ["desc"],
    "kind": lambda told: [*told.job_kinds, "note", "object", "document", "entity"],
    "state": lambda told: ["failed", "succeeded"],
    "workflow": lambda told: told.slugs[:1],
    "trigger": lambda told: told.triggers,
    "mine": lambda told: ["1"],
    "step": lambda told: ["read", "carry"],
    "version": lambda told: ["1"],
    "object": OBJECTS,
    "ids": OBJECTS,
    "type": lambda told: ["organisation"],
    "conversation": lambda told: told.ids("conversation"),
    "user": lambda told: [one.user_id for one in told.people],
    "kinds": lambda told: ["note", "document,object"],
    "checks": lambda told: ["1"],
}
# They choose among what is the instance's own, or where a page begins.
LEFT_OUT = frozenset(
    ["limit", "cursor", "after", "target", "status", "ns", "namespaces", "history", "verdict", "draft", "locale", "text", "lane"]
)  # fmt: skip


@dataclass(slots=True)
class Heard:
    """What an observer was told: in how many replies, which words they can read, and where those that they cannot."""

    replies: int = 0
    rows: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    leaks: list[str] = field(default_factory=list)

    def note(self, row: str, place: str, raw: bytes, hidden: Mapping[str, str]) -> None:
        """One reply, whatever its status."""
        self.replies += 1
        self.rows.add(row)
        for word in words_in(raw):
            if word in hidden:
                self.leaks.append(f"{place}: {hidden[word]}")
            else:
                self.known.add(word)


def words_in(raw: bytes) -> set[str]:
    """The words in a text, those in archives and in cursors included."""
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            raw = b" ".join(part for name in archive.namelist() for part in (name.encode(), archive.read(name)))
    raw += b" ".join(map(_opened, _CURSOR.findall(raw)))
    return {found.decode() for found in WORD.findall(raw.lower())}


def _opened(cursor: bytes) -> bytes:
    try:
        return base64.urlsafe_b64decode(cursor + b"=" * (-len(cursor) % 4))
    except binascii.Error:
        return b""


async def hear(told: Histories, observer: Observer) -> Heard:
    """Everything that an observer is told when they ask for everything."""
    heard, hidden = Heard(), told.hidden_from(observer)
    for endpoint in ROWS:
        row = name_of(endpoint)
        if endpoint.route.auth is Auth.SIGNED:
            async for place, answer in _signed(told, observer):
                heard.note(row, place, answer.raw, hidden)
            continue
        for path in _paths(endpoint, told):
            async for place, answer in _asked(endpoint, path, told, observer):
                heard.note(row, place, answer.raw, hidden)
    return heard


def _paths(endpoint: Endpoint, told: Histories) -> Iterator[str]:
    route, parameters = endpoint.route.path, parameters_of(endpoint.route.path)
    for chosen in itertools.product(*(IN_PATHS[parameter](told) for parameter in parameters)):
        path = route
        for parameter, value in zip(reversed(parameters), reversed(chosen), strict=True):
            path = f"{parameter.rpartition('/')[0]}/{value}{path[len(parameter) :]}"
        yield path


async def _asked(
    endpoint: Endpoint, path: str, told: Histories, observer: Observer
) -> AsyncIterator[tuple[str, Answer]]:
    for query in _queries(endpoint, told):
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            asked = query | ({"cursor": cursor} if cursor else {})
            answer = await observer.client.send("GET", path, query=dict(asked))
            yield f"GET {path} {query} by {observer.name}: {answer.status}", answer
            cursor = _next(answer) if "cursor" in endpoint.query else None
            if cursor is None:
                break


def _queries(endpoint: Endpoint, told: Histories) -> Iterator[dict[str, str]]:
    """The row as it is, and with each parameter by itself."""
    first = {name: NEEDED[name] for name in endpoint.query if name not in endpoint.defaults}
    if "limit" in endpoint.query:
        first["limit"] = str(_most(endpoint.query["limit"]))
    yield first
    for name in endpoint.query:
        for value in ASKED[name](told) if name in ASKED else ():
            yield {**first, name: value}


def _most(hint: Any) -> int:
    found = inspect.type_info(hint)
    assert isinstance(found, inspect.IntType), found
    return found.le or 200


def _next(answer: Answer) -> str | None:
    try:
        found = json.loads(answer.raw)
    except ValueError:
        return None
    return found.get("next_cursor") if isinstance(found, dict) else None


async def _signed(told: Histories, observer: Observer) -> AsyncIterator[tuple[str, Answer]]:
    """S3's rows with a key of the observer's: buckets, listings, versions, and each object by its key."""
    key = dict((await observer.client.post("/api/s3/credentials", {"name": "tests"})).body)
    listings = [
        "",
        "/files?list-type=2&max-keys=1000",
        "/files?delimiter=%2F&list-type=2",
        "/files?versions=",
        "/files?uploads=",
    ]
    objects = {
        f"/files/{thing.key}{tail}": thing.key for thing in told.things if thing.key for tail in ("", "?tagging=")
    }
    for place in [*listings, *objects]:
        headers = signed_headers(key, "GET", f"http://atrium.test/s3{place}")
        answer = await observer.client.send("GET", f"/s3{place}", headers=headers)
        # A refusal repeats the key that was asked for.
        said = objects.get(place, "") if answer.status in (403, 404) else ""
        raw = answer.raw.replace(said.encode(), b"") if said else answer.raw
        yield f"GET /s3{place} by {observer.name}: {answer.status}", Answer(answer.status, answer.headers, raw)
