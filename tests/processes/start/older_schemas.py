"""From which older schemas the gate migrates: the newest few, and all of them while nothing shows that these migrations hold from each.

`make proofs ONLY=tests/processes/start/test_migrations.py` migrates from all, and writes the digest of the folder into
docs/figures/migrations.json.
"""

import hashlib
import json
from pathlib import Path

from atrium.kit.postgres.migrate import read_migrations

FIGURES = Path(__file__).resolve().parents[3] / "docs/figures/migrations.json"
NEWEST = 6


def digest(folder: Path | None = None) -> str:
    """Of every migration in order: it changes with any of them."""
    return hashlib.sha256("".join(one.checksum for one in read_migrations(folder)).encode()).hexdigest()


def are_proven(figures: Path = FIGURES, folder: Path | None = None) -> bool:
    """Whether the proofs held on the migrations as they are."""
    return figures.exists() and bool(json.loads(figures.read_text())["digest"] == digest(folder))


def keep(figures: Path = FIGURES, folder: Path | None = None) -> None:
    """Write down that they held."""
    figures.write_text(json.dumps({"digest": digest(folder)}, indent=1) + "\n")


def is_of_the_gate(number: int, count: int, *, proven: bool, proving: bool = False) -> bool:
    """Whether the gate migrates from this schema, the first of which is 1; while proofs run, only the newest are not theirs."""
    return number >= count - NEWEST or not (proven or proving)
