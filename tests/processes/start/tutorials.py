"""A page of docs/tutorials as one bash script: files are written, servers run in terminals of their own, the rest in order.

A block's title says what it is: a path for a file, a name of a terminal for what keeps running. "Ctrl-C" in the text stops the terminal
that was opened last. A ```text block is what the block before it prints, with `…` for whatever is left out.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.patience import PATIENCE
from tests.support.processes import ROOT, environment

PAGES = ROOT / "docs/tutorials"
PORT = 8080
_PART = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$|(?P<stop>Ctrl-C)', re.M | re.S)
_START = """set -euo pipefail
set -m
TERMINALS=()
trap 'for one in ${TERMINALS[@]+"${TERMINALS[@]}"}; do kill -INT -- -$one 2>/dev/null && wait $one || true; done' EXIT
"""
# Its own process group, as a terminal gives it: an interrupt reaches the command and whatever the command started.
_TERMINAL = """( {body} ) >terminal-{number}.log 2>&1 & TERMINALS+=($!)
"""
_READY = """until curl -s -o /dev/null http://127.0.0.1:{port}/ready; do kill -0 ${{TERMINALS[-1]}}; sleep 0.1; done
"""
_STOP = """kill -INT -- -${TERMINALS[-1]}; wait ${TERMINALS[-1]} || true; unset 'TERMINALS[-1]'
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a reader does: writes a file, types commands, opens a terminal, stops one, or reads what was printed."""

    kind: str
    title: str
    body: str


def parts_of(page: str) -> list[Part]:
    """What the page asks for, in order."""
    found = _PART.finditer(page)
    return [Part("stop" if one["stop"] else one["kind"], one["title"] or "", one["body"] or "") for one in found]


def script_of(parts: list[Part], port: int) -> str:
    """All commands; each block prints into a file of its own number."""
    return _START + "".join(_lines_of(number, part, port) for number, part in enumerate(parts))


def _lines_of(number: int, part: Part, port: int) -> str:
    body = part.body.replace(f":{PORT}", f":{port}").replace("atrium up", f"atrium up --port {port}")
    if part.kind == "stop":
        return _STOP
    if part.kind != "sh":
        return (
            "" if part.kind == "text" else f"mkdir -p $(dirname {part.title}); cat >{part.title} <<'END'\n{body}END\n"
        )
    if part.title:
        return _TERMINAL.format(body=body, number=number) + (_READY.format(port=port) if part.title == "server" else "")
    return f"{{\n{body}}} >printed-{number}\n"


def differences(parts: list[Part], folder: Path, port: int) -> Iterator[str]:
    """Where a block did not print what the page says."""
    for number, part in enumerate(parts):
        if part.kind == "text":
            printed = (folder / f"printed-{number - 1}").read_text().replace(f":{port}", f":{PORT}")
            said = ".*?".join(re.escape(piece) for piece in part.body.strip().split("…"))
            if not re.fullmatch(said, printed.strip(), re.DOTALL):
                yield f"expected {part.body!r}, printed {printed!r}"


def run_page(name: str, folder: Path, port: int, **variables: str) -> None:
    """Run it in an empty folder; an exit code or an output that differs fails with everything that was printed."""
    parts = parts_of((PAGES / f"{name}.md").read_text())
    ended = subprocess.run(
        ["bash", "-c", script_of(parts, port)],
        cwd=folder,
        env=_seen(folder) | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=5 * PATIENCE,
    )
    logs = "\n".join(path.read_text() for path in sorted((*folder.glob("printed-*"), *folder.glob("terminal-*.log"))))
    assert ended.returncode == 0, f"{ended.stderr}\n{logs}"
    assert list(differences(parts, folder, port)) == []


def _seen(folder: Path) -> dict[str, str]:
    """The commands of this checkout, `atrium-worker` too, which is a package of its own."""
    programs = folder / "programs"
    programs.mkdir()
    worker = programs / "atrium-worker"
    worker.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "worker/src"}:." exec {sys.executable} -m atrium_worker "$@"\n')
    worker.chmod(0o755)
    return environment() | {"PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
