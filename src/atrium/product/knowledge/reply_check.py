"""What a model's reply must be to count as knowledge about a text: it is taken as it is or refused with the places that are wrong."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args
from uuid import UUID

from atrium.kit.schemas import parse
from atrium.kit.schemas.parse import compile_schema, faults_in, judge_json
from atrium.kit.schemas.validator import locate_fault
from atrium.kit.work.compute import heavy
from atrium.product.knowledge.model import EntityType, Evidence, KnowledgeRefused, Mention
from atrium.product.knowledge.names import entity_id, fold_text, one_line

Fault = tuple[str, str]
MOST_FAULTS = 20
_ID = {"type": "string", "pattern": "^e[0-9]{1,3}$"}
_QUOTE = {"type": "string", "minLength": 2, "maxLength": 240}
# `kind` is the type: a property of that name would read as the keyword where schemas are weighed.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["entities", "relations"],
    "properties": {
        "entities": {
            "type": "array",
            "maxItems": 60,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "kind", "name", "quote"],
                "properties": {
                    "id": _ID,
                    "kind": {"enum": list(get_args(EntityType))},
                    "name": {"type": "string", "minLength": 1, "maxLength": 120},
                    "quote": _QUOTE,
                },
            },
        },
        "relations": {
            "type": "array",
            "maxItems": 80,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["from", "kind", "to", "quote"],
                "properties": {
                    "from": _ID,
                    "kind": {"type": "string", "pattern": "^[a-z]{1,20}(_[a-z]{1,20}){0,3}$"},
                    "to": _ID,
                    "quote": _QUOTE,
                },
            },
        },
    },
}


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Some of a document's text, and where it begins."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What a part says; places count from the document's beginning."""

    mentions: list[Mention]
    relations: list[Evidence]


@heavy
def check_reply(reply: str, part: TextChunk, salt: UUID) -> Findings:
    """What a reply says about a part; refused when anything in it does not hold."""
    try:
        value = judge_json(reply)
    except parse.ReplyRefused as problem:
        raise refusal_of([("", str(problem))]) from problem
    faults = faults_in(value, compile_schema(SCHEMA), MOST_FAULTS)
    if not faults:
        faults = list(islice(_faults(value, part), MOST_FAULTS))
    if faults:
        raise refusal_of(faults)
    return _findings(value, part, salt)


def refusal_of(faults: list[Fault]) -> KnowledgeRefused:
    """The refusal that names these faults."""
    said = "; ".join(locate_fault(path, message) for path, message in faults[:5])
    more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
    errors = [{"path": path, "message": message} for path, message in faults]
    return KnowledgeRefused(f"the model's reply is not knowledge about the document: {said}{more}", errors=errors)


def _faults(value: Any, part: TextChunk) -> Iterator[Fault]:
    known: dict[str, str] = {}
    for number, entity in enumerate(value["entities"]):
        yield from _entity_faults(entity, f"/entities/{number}", known, part)
    seen: set[tuple[str, ...]] = set()
    for number, relation in enumerate(value["relations"]):
        yield from _relation_faults(relation, f"/relations/{number}", known, part)
        told = (relation["from"], relation["kind"], relation["to"], relation["quote"])
        if told in seen:
            yield f"/relations/{number}", "is there twice"
        seen.add(told)


def _entity_faults(entity: dict[str, str], path: str, known: dict[str, str], part: TextChunk) -> Iterator[Fault]:
    if entity["id"] in known:
        yield f"{path}/id", "is there twice"
    said = f"{entity['kind']} {entity['name']} {entity['quote']}"
    if said in known.values():
        yield path, "is there twice"
    known[entity["id"]] = said
    name = one_line(entity["name"])
    if not fold_text(name) or any(_is_hidden(character) for character in name):
        yield f"{path}/name", "is no name"
    elif name.casefold() not in one_line(entity["quote"]).casefold():
        yield f"{path}/name", "is not in its quote"
    if _place(entity["quote"], part) is None:
        yield f"{path}/quote", "is not in the document"


def _relation_faults(relation: dict[str, str], path: str, known: dict[str, str], part: TextChunk) -> Iterator[Fault]:
    for end in ("from", "to"):
        if relation[end] not in known:
            yield f"{path}/{end}", "is the id of no entity"
    if relation["from"] == relation["to"]:
        yield f"{path}/to", "relates an entity to itself"
    if _place(relation["quote"], part) is None:
        yield f"{path}/quote", "is not in the document"


def _is_hidden(character: str) -> bool:
    """Characters that are not seen, or that change how others are read."""
    return unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs")


def _place(quote: str, part: TextChunk) -> tuple[int, int] | None:
    """Where a quote is in a part, however its words are spaced."""
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), part.text)
    return found.span() if found else None


def _findings(value: Any, part: TextChunk, salt: UUID) -> Findings:
    ids = {one["id"]: entity_id(salt, one["kind"], one["name"]) for one in value["entities"]}
    mentions = [_mention(one, ids[one["id"]], part) for one in value["entities"]]
    # Two spellings of one entity may be related in a reply; by then they are one.
    relations = [_evidence(one, ids, part) for one in value["relations"] if ids[one["from"]] != ids[one["to"]]]
    return Findings(mentions, relations)


def _mention(entity: dict[str, Any], id: UUID, part: TextChunk) -> Mention:
    quote, at = _quoted(entity["quote"], part)
    name = one_line(entity["name"])
    return Mention(id, entity["kind"], name, fold_text(name), quote, at)


def _evidence(relation: dict[str, str], ids: dict[str, UUID], part: TextChunk) -> Evidence:
    quote, at = _quoted(relation["quote"], part)
    return Evidence(ids[relation["from"]], ids[relation["to"]], relation["kind"], quote, at)


def _quoted(quote: str, part: TextChunk) -> tuple[str, int]:
    start, end = _place(quote, part) or (0, 0)
    return one_line(part.text[start:end]), part.start + start
