"""Run an S3 conformance suite that lies outside of this repository against a server of ours.

    python -m tests.domains.s3.conformance /path/to/s3-tests --python /path/to/its/venv/bin/python \\
      --ids tests/domains/s3/conformance_ids.txt

The suite is ceph/s3-tests, checked out and installed apart; nothing of it is kept here but the names of the tests that are about
what we offer: `--ids` is a file with one of them per line. It prints what passed, what failed, and whether the server ever answered
with a 5xx.
"""

import argparse
import asyncio
import configparser
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.postgres import fresh_database
from tests.support.processes import Process, bootstrap, free_port, serving

# A bucket that cannot be emptied must not fail every test after it: each test gets a prefix of its own.
ISOLATION = """
import random
import string

import s3tests.functional as suite

_empty = suite.nuke_prefixed_buckets


def _attempt(*args, **options):
    try:
        return _empty(*args, **options)
    except Exception as error:
        print("cleaning up:", error)


suite.nuke_prefixed_buckets = _attempt


def pytest_runtest_setup(item):
    suite.prefix = "st-" + "".join(random.choices(string.ascii_lowercase + string.digits, k=20)) + "-"
"""
SECTIONS = ("s3 main", "s3 alt", "s3 tenant", "iam", "iam root", "iam alt root")


async def key_of(server: Process, token: str) -> dict[str, Any]:
    """A fresh S3 key of whoever holds the token."""
    async with server.client(token) as client:
        answer = await client.post("/api/s3/credentials", json={"name": "conformance"})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def people(server: Process, operator: str) -> list[dict[str, Any]]:
    """One person for each of the suite's roles, each with a key: the first two in teams of their own."""
    found = [await key_of(server, operator)]
    async with server.client(operator) as client:
        for section in SECTIONS[1:]:
            name = section.replace(" ", "-")
            founding = {"name": name, "owner": {"username": name}}
            answer = await client.post("/api/orgs", json=founding)
            assert answer.status_code == 201, answer.text
            found.append(await key_of(server, answer.json()["token"]))
    return found


def configuration(port: int, keys: list[dict[str, Any]]) -> configparser.ConfigParser:
    """The suite's own settings file."""
    written = configparser.ConfigParser()
    written["DEFAULT"] = {"host": "localhost", "port": str(port), "is_secure": "False", "ssl_verify": "False"}
    written["fixtures"] = {"bucket prefix": "st-{random}-"}
    for section, key in zip(SECTIONS, keys, strict=True):
        written[section] = {
            "access_key": key["access_key_id"],
            "secret_key": key["secret_access_key"],
            "display_name": section,
            "user_id": key["id"],
            "email": f"{section.replace(' ', '.')}@example.com",
            "api_name": key["region"],
            "tenant": "tenant",
        }
    return written


def run_suite(suite: Path, python: str, ids: list[str], config: Path, folder: Path) -> dict[str, str]:
    """Each test's id with what became of it."""
    (folder / "isolation.py").write_text(ISOLATION)
    report = folder / "report.xml"
    command = [python, "-m", "pytest", "-q", "-p", "isolation", "-p", "no:cacheprovider", f"--junitxml={report}", *ids]
    seen = os.environ | {"S3TEST_CONF": str(config), "PYTHONPATH": str(folder)}
    log = folder / "suite.log"
    with log.open("wb") as output:
        subprocess.run(command, cwd=suite, env=seen, stdout=output, stderr=output, check=False)
    if not report.exists():
        raise SystemExit(log.read_text()[-4000:])
    return dict(_outcomes(report))


def _outcomes(report: Path) -> list[tuple[str, str]]:
    found = []
    for case in ElementTree.parse(report).iter("testcase"):
        path = str(case.get("classname")).replace(".", "/") + ".py"
        bad = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        outcome = "passed" if bad is None else f"{bad.tag}: {(bad.get('message') or '').splitlines()[0][:200]}"
        found.append((f"{path}::{case.get('name')}", outcome))
    return found


async def run(options: argparse.Namespace) -> int:
    ids = [line.strip() for line in options.ids.read_text().splitlines() if line.strip()]
    if options.only:
        ids = [id for id in ids if re.search(options.only, id)]
    with tempfile.TemporaryDirectory(prefix="atrium-conformance-") as name:
        folder = Path(name)
        async with fresh_database() as url:
            port = free_port()
            settings: dict[str, Any] = {
                "data_dir": folder / "data",
                "s3_port": port,
                "s3_extra_buckets": 1,
                "access_log": 1,
            }
            async with serving(url, extraction=0, **settings) as [server]:
                keys = await people(server, await bootstrap(server))
                config = folder / "suite.conf"
                with config.open("w") as file:
                    configuration(port, keys).write(file)
                outcomes = await asyncio.to_thread(run_suite, options.suite, options.python, ids, config, folder)
                alive, output = server.popen.poll() is None, server.output
    return tell(ids, outcomes, alive, output)


def tell(ids: list[str], outcomes: dict[str, str], alive: bool, output: str) -> int:
    passed = [id for id in ids if outcomes.get(id) == "passed"]
    failed = {id: outcomes.get(id, "did not run") for id in ids if id not in set(passed)}
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    broken = [line for line in lines if isinstance(line.get("status"), int) and line["status"] >= 500]
    for id, outcome in failed.items():
        print(f"FAILED {id}: {outcome}")
    for line in broken:
        print(f"5xx {line['status']} {line['method']} {line['path']}")
    for line in output.splitlines():
        if "s3.failed" in line or "request.failed" in line:
            print(line[:3000])
    print(f"{len(passed)} of {len(ids)} passed, {len(broken)} answers of 5xx, server alive: {alive}")
    return 0 if len(passed) == len(ids) and not broken and alive else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, help="a checkout of the suite")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the suite's requirements")
    parser.add_argument("--ids", type=Path, required=True, help="a file with the ids to run")
    parser.add_argument("--only", default="", help="run only the ids that match this expression")
    return asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
