"""The functions of the schema as the newest migrations make them; one that a migration makes again replaces the older one."""

import re
from dataclasses import dataclass
from pathlib import Path

from atrium.kit.files.paths import shipped_path

# From its first line to the end of its body; a function whose body stands in plain quotes is not among them.
_FUNCTION = re.compile(
    r"^CREATE (?:OR REPLACE )?FUNCTION (\w+)\((?:(?!^(?:CREATE|ALTER|DROP|DO|GRANT)\b).)*?\$\$;",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a function is made last, and its text."""

    file: str
    text: str

    @property
    def replacing(self) -> str:
        """The statement that makes it in place of the one that is there."""
        return self.text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)


def newest(folder: Path | None = None) -> dict[str, Definition]:
    """The newest definition of every function, by name; files are named from the top of a checkout."""
    made: dict[str, Definition] = {}
    for path in sorted((folder or shipped_path("migrations")).glob("*.sql")):
        for found in _FUNCTION.finditer(path.read_text()):
            made[found[1]] = Definition(f"migrations/{path.name}", found[0])
    return made
