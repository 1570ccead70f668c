"""Folders that the user of the sandbox can read, also when the tests run as root."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def readable_folder() -> Iterator[Path]:
    """A temporary folder that every user can read."""
    with tempfile.TemporaryDirectory(prefix="atrium-guests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
