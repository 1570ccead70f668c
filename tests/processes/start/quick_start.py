"""The README's quick start, run as it is written in a fresh copy of the tree: `python -m tests.processes.start.quick_start`."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import ROOT, environment, free_port

HEADINGS = ("## Run it", "### First note")
README_PORT = 8080
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SERVES = re.compile(r"^(.*\batrium (?:up|serve)\b.*)$", re.MULTILINE)
# What serves goes to the background; what follows it in the README is meant for when it answers.
_AWAITED = r"""\1 {option} >serving.log 2>&1 & SERVING=$!
until curl -s -o /dev/null http://127.0.0.1:{port}/ready; do kill -0 $SERVING; sleep 0.1; done"""
_FRAME = """set -euo pipefail
{commands}
touch finished
read -r _ || true
kill -TERM $SERVING
wait $SERVING
"""


class QuickStartFailed(Exception):
    """The commands did not come to their end; the message is what they printed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The quick start came to its end and its server still runs."""

    folder: Path
    port: int
    seconds: float
    output: str


def commands_under(text: str, heading: str) -> list[str]:
    """The ```sh blocks between a heading and the next one."""
    _, found, after = f"\n{text}".partition(f"\n{heading}\n")
    if not found:
        raise QuickStartFailed(f"README.md has no heading {heading!r}")
    return _BLOCK.findall(re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0])


def script_of(text: str, port: int, without: str | None = None) -> str:
    """One bash script out of the README's blocks, waiting at its end until its caller has looked around; a line may be left out."""
    commands = "".join(block for heading in HEADINGS for block in commands_under(text, heading))
    if without is not None:
        commands = commands.replace(f"{without}\n", "", 1)
    option = "" if port == README_PORT else f"--port {port}"
    awaited = _SERVES.sub(_AWAITED.format(option=option, port=port), commands)
    return _FRAME.format(commands=awaited.replace(f":{README_PORT}/", f":{port}/"))


def copy_tree(to: Path) -> None:
    """What a clone of the working tree would have: tracked files and new ones, nothing that is ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


@contextmanager
def quick_start(limit: float, without: str | None = None) -> Iterator[Ran]:
    """Run it to its end within the limit; whatever it started is stopped when the block ends."""
    port = README_PORT if _is_free(README_PORT) else free_port()
    with tempfile.TemporaryDirectory(prefix="atrium-readme-") as name:
        folder = Path(name)
        copy_tree(folder)
        script = script_of((folder / "README.md").read_text(), port, without)
        with (folder / "output").open("wb") as output:
            began = time.monotonic()
            bash = subprocess.Popen(
                ["bash", "-c", script], cwd=folder, env=_environment(), stdin=subprocess.PIPE, stdout=output,
                stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            _await_end(bash, folder, began + limit)
            yield Ran(folder, port, time.monotonic() - began, (folder / "output").read_text())
        finally:
            _stop(bash)


def network_answers() -> bool:
    """Whether pip can fetch what building the package needs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-cache-dir",
            "-d",
            folder,
            "hatchling",
        ]
        return subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 0


def _environment() -> dict[str, str]:
    return {name: value for name, value in environment().items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _await_end(bash: "subprocess.Popen[bytes]", folder: Path, deadline: float) -> None:
    while not (folder / "finished").exists():
        if bash.poll() is not None or time.monotonic() > deadline:
            said = [path.read_text() for path in (folder / "output", folder / "serving.log") if path.exists()]
            raise QuickStartFailed("\n".join(said))
        time.sleep(0.05)


def _stop(bash: "subprocess.Popen[bytes]") -> None:
    assert bash.stdin is not None
    bash.stdin.close()
    try:
        bash.wait(30 if bash.poll() is None else 0)
    except subprocess.TimeoutExpired:
        os.killpg(bash.pid, signal.SIGTERM)
        bash.wait(30)


if __name__ == "__main__":
    with quick_start(600) as ran:
        print(f"{ran.output}\nThe quick start took {ran.seconds:.1f} s.")
