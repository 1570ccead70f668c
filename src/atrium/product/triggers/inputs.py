"""What a trigger gives to its workflow: values, and references to the version that fires it."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from atrium.engine.repository.model import StoredObject, Version
from atrium.engine.workflows import bindings
from atrium.seams.workflows import SpecProblem, Workflow

REFERENCES = ("object.id", "object.key", "object.version_id", "object.filename", "object.content_type")
# Declared by a workflow that works on a document; filled in where the trigger does not give it.
OBJECT_ID = "object_id"
MOST_BYTES, MOST_DEPTH, MOST_PROBLEMS = 65_536, 32, 20
# Stands for a version that has not been written yet.
_SOME_ID = "00000000-0000-7000-8000-000000000000"
_EXAMPLE = {
    "object.id": _SOME_ID,
    "object.key": "folder/file.pdf",
    "object.version_id": _SOME_ID,
    "object.filename": "file.pdf",
    "object.content_type": "application/pdf",
}


def facts_of(written: StoredObject, version: Version) -> dict[str, str]:
    """What references stand for, for one version."""
    return {
        "object.id": str(written.id),
        "object.key": written.key,
        "object.version_id": str(version.id),
        "object.filename": version.filename,
        "object.content_type": version.content_type,
    }


def bind_input(given: Mapping[str, Any], spec: Workflow, facts: Mapping[str, str]) -> dict[str, Any]:
    """The input of a run: references replaced, and the object's id where the workflow asks for it and nothing is given."""
    filled = {OBJECT_ID: facts["object.id"]} if OBJECT_ID in spec.inputs else {}
    return filled | {name: _bound(value, facts) for name, value in given.items()}


def problems_with(given: Mapping[str, Any], spec: Workflow) -> list[SpecProblem]:
    """Why the workflow would not take this, whatever version fires; empty when it would."""
    if found := list(_misplaced(given, "/input", 0)):
        return found[:MOST_PROBLEMS]
    if len(msgspec.json.encode(given)) > MOST_BYTES:
        return [SpecProblem("/input", "too_large", f"at most {MOST_BYTES} bytes of JSON")]
    refused = bindings.check_input(spec, bind_input(given, spec, _EXAMPLE))
    return [SpecProblem(one.path, one.code, one.message) for one in refused[:MOST_PROBLEMS]]


def _bound(value: Any, facts: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if "$" in value:
            return facts[value["$"]]
        return {name: _bound(one, facts) for name, one in value.items()}
    return [_bound(one, facts) for one in value] if isinstance(value, list) else value


def _misplaced(value: Any, path: str, depth: int) -> Iterator[SpecProblem]:
    if depth > MOST_DEPTH:
        yield SpecProblem(path, "too_deep", f"at most {MOST_DEPTH} objects and lists inside each other")
    elif isinstance(value, dict) and "$" in value and depth:
        if len(value) > 1 or not isinstance(value["$"], str) or value["$"] not in REFERENCES:
            yield SpecProblem(
                path, "unknown_reference", f'a reference is {{"$": …}} with one of {", ".join(REFERENCES)}'
            )
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _misplaced(one, f"{path}/{_escaped(name)}", depth + 1)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _misplaced(one, f"{path}/{place}", depth + 1)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
