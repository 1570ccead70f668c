"""Finding what ships with the program, and resolving paths that must not climb out of their folder."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def shipped_path(name: str) -> Path:
    """A folder that travels with Atrium: inside the installed package, or at the top of a checkout."""
    inside = _PACKAGE / "shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent.parent / name


def path_inside(root: Path, relative: str) -> Path | None:
    """The file at `relative` below `root`, walked segment by segment; None when it is absent or would leave `root`."""
    path = root
    for segment in relative.split("/"):
        if segment in ("", ".", "..") or "\\" in segment or "\0" in segment:
            return None
        path = path / segment
        if _is_link(path):
            return None
    return path if path.is_file() else None


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        # Longer than a name can be: refused like a link, because there cannot be a file either.
        return True
