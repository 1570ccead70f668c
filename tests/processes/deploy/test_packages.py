"""The container, the wheel and the bill of materials: unprivileged, the same bytes each time, and complete."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from atrium.seams.settings import PREFIX, Settings
from dev.sbom import bill
from tests.support.patience import PATIENCE
from tests.support.processes import ROOT

CONTAINERFILE, COMPOSE = ROOT / "deploy" / "Containerfile", ROOT / "deploy" / "compose.yaml"
INPUTS = ("src", "migrations", "plugins", "locales", "dev", "pyproject.toml", "README.md", "LICENSE")
SETTINGS = {PREFIX + field.name.upper() for field in fields(Settings)}


def last_stage() -> str:
    return CONTAINERFILE.read_text().rpartition("\nFROM ")[2]


def test_the_image_runs_without_privileges_and_says_how_it_is() -> None:
    stage = last_stage()

    assert re.search(r"^USER 10001:10001$", stage, re.MULTILINE)
    assert "HEALTHCHECK" in stage
    assert "/ready" in stage
    assert "pip install" not in stage, "what builds stays in the stage that builds"


def test_the_image_takes_its_packages_by_their_hashes_and_its_files_from_the_checkout() -> None:
    text = CONTAINERFILE.read_text()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE) for word in line.split()[:-1]]
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert "--require-hashes -r requirements.lock" in text
    assert set(copied) <= let_in
    # The console is there once it is built.
    assert all((ROOT / path).exists() for path in copied if path != "console/dist")


def test_compose_shuts_everything_that_can_be_shut_and_names_only_settings() -> None:
    services: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]

    for name in ("server", "worker"):
        one = services[name]
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
        assert set(one["environment"]) <= SETTINGS
        assert set(one["depends_on"].popitem()[1].values()) == {"service_healthy"}
    assert services["server"]["ports"] == ["127.0.0.1:8080:8080"]
    assert "healthcheck" in services["postgres"]


def build_wheel(source: Path, out: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=2 * PATIENCE)
    [wheel] = out.glob("*.whl")
    return wheel


def test_two_builds_of_the_wheel_are_the_same_bytes(tmp_path: Path) -> None:
    digests = set()
    for number, name in enumerate(("first", "second")):
        source = tmp_path / name
        source.mkdir()
        for path in INPUTS:
            if (ROOT / path).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                # The second copy has other times than the first.
                copy = shutil.copy2 if number == 0 else shutil.copyfile
                shutil.copytree(ROOT / path, source / path, ignore=ignored, copy_function=copy)
            else:
                shutil.copy(ROOT / path, source / path)
        wheel = build_wheel(source, tmp_path / f"{name}-out")
        digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())

    assert len(digests) == 1


def test_the_bill_names_every_package_once_and_is_the_same_each_time() -> None:
    document = bill(epoch=0)

    assert json.dumps(document) == json.dumps(bill(epoch=0))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    purls = [component["purl"] for component in document["components"]]
    assert len(purls) == len(set(purls))
    locked = re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    named = {component["name"] for component in document["components"] if component["purl"].startswith("pkg:pypi/")}
    assert named == set(locked)
    assert {"react", "lucide-react"} <= {component["name"] for component in document["components"]}
    assert "vite" not in {component["name"] for component in document["components"]}, (
        "builds the console, and is not in it"
    )


def test_every_package_is_there_because_something_needs_it() -> None:
    document = bill(epoch=0)
    needed = {ref for one in document["dependencies"] for ref in one["dependsOn"]}
    refs = {component["bom-ref"] for component in document["components"]}

    assert needed == refs
    [ours] = [one for one in document["dependencies"] if one["ref"].startswith("pkg:pypi/atrium@")]
    assert any(ref.startswith("pkg:pypi/asyncpg@") for ref in ours["dependsOn"])
