"""The bill of materials: everything the wheel needs and everything its console is made of, as CycloneDX 1.6. The same bytes each time."""

import importlib.metadata
import json
import os
import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).parent.parent
PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
VIA = re.compile(r"^\s+# (?:via |  )\s*(\S+)(?: \((.+)\))?$", re.MULTILINE)
SPDX = re.compile(r"[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)*")

Component = dict[str, Any]


def python_packages(lock: str) -> tuple[list[Component], dict[str, list[str]]]:
    """Every package of the lock, and which packages ask for each."""
    starts = [found.start() for found in PINNED.finditer(lock)]
    components, wanted = [], {}
    for start, end in zip(starts, [*starts[1:], len(lock)], strict=True):
        entry = lock[start:end]
        found = PINNED.match(entry)
        assert found is not None
        name, version = found.groups()
        purl = f"pkg:pypi/{name}@{quote(version)}"
        component: Component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        component["licenses"] = licenses_of(name)
        # A lock names the files of every platform; which one is used is pip's to choose, and one of these it must be.
        component["properties"] = [{"name": "atrium:sha256", "value": digest} for digest in sorted(HASH.findall(entry))]
        components.append(component)
        wanted[purl] = [asker for asker, _ in VIA.findall(entry)]
    return components, wanted


def licenses_of(name: str) -> list[dict[str, Any]]:
    """What the installed package says about its licence; nothing when it says nothing short."""
    try:
        about = importlib.metadata.metadata(name).json
    except importlib.metadata.PackageNotFoundError:
        return []
    said = str(about.get("license_expression") or "")
    if SPDX.fullmatch(said):
        return [{"expression": said}]
    classes = [
        str(one).rpartition(" :: ")[2] for one in about.get("classifier") or () if str(one).startswith("License ::")
    ]
    named = str(about.get("license") or next(iter(classes), ""))
    return [{"license": {"name": named}}] if named and len(named) < 80 and "\n" not in named else []


def console_packages(lock: dict[str, Any]) -> list[Component]:
    """What the browser is sent: the packages that are not there for building alone."""
    components = []
    for path, about in sorted(lock["packages"].items()):
        if not path or about.get("dev") or about.get("link"):
            continue
        name = path.rpartition("node_modules/")[2]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{about['version']}"
        component: Component = {
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": about["version"],
            "purl": purl,
        }
        component["licenses"] = [{"license": {"name": about["license"]}}] if "license" in about else []
        components.append(component)
    return [
        one for index, one in enumerate(components) if one["bom-ref"] not in {c["bom-ref"] for c in components[:index]}
    ]


def bill(root: Path = ROOT, epoch: int | None = None) -> dict[str, Any]:
    """The whole document; its moment is SOURCE_DATE_EPOCH."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    lock = (root / "requirements.lock").read_text()
    python, wanted = python_packages(lock)
    console = console_packages(json.loads((root / "console" / "package-lock.json").read_text()))
    us = f"pkg:pypi/{project['name']}@{project['version']}"
    ref_of = {component["name"]: component["bom-ref"] for component in python} | {project["name"]: us}
    needs: dict[str, set[str]] = {us: {component["bom-ref"] for component in console}}
    for purl, askers in wanted.items():
        for asker in askers:
            needs.setdefault(ref_of.get(asker, us), set()).add(purl)
    moment = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")) if epoch is None else epoch, UTC)
    components = sorted([*python, *console], key=lambda one: str(one["bom-ref"]))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, us + lock + json.dumps(console))}",
        "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": us, "name": project["name"], "version": project["version"], "purl": us,
                "description": project["description"], "licenses": [{"expression": project["license"]}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(needs.get(ref, ()))} for ref in [us, *(one["bom-ref"] for one in components)]
        ],
    }  # fmt: skip


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    print()
