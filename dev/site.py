"""What the site has beside docs/: pages that live elsewhere in the repository, and the reference, made from the program itself."""

import json
import logging
import posixpath
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Where a page of the repository is on the site.
ELSEWHERE = {
    "ARCHITECTURE.md": "contributing/architecture.md",
    "CHANGELOG.md": "contributing/changelog.md",
    "CONTRIBUTING.md": "contributing/index.md",
    "SECURITY.md": "security/index.md",
    "STYLE.md": "contributing/style.md",
    "benchmarks/README.md": "contributing/benchmarks.md",
    "tests/README.md": "contributing/tests.md",
    "console/README.md": "contributing/console.md",
    "worker/README.md": "guides/worker.md",
}
HOME = {site: repository for repository, site in ELSEWHERE.items()}
AUTH = {
    "P": "anybody",
    "B": "bearer token",
    "PV": "provisioning token",
    "SA": "operator",
    "OA": "company role",
    "S3": "S3 signature",
}
log = logging.getLogger("mkdocs.hooks.site")
_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*\bhref=["']?(?:https?:)?//"""
)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them before the navigation is compared with what is there."""
    for picture in unused_pictures(Path(config.docs_dir)):
        log.warning("No page shows the picture %s", picture)
    for repository, site in ELSEWHERE.items():
        files.append(File.generated(config, site, content=(ROOT / repository).read_text()))
    document = json.loads(_said("openapi"))
    for name, text in {
        "routes": routes_page(document),
        "errors": errors_page(),
        "settings": settings_page(_said("settings")),
        "commands": commands_page(),
    }.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links are written for a reader of the repository; here they lead to the same page of the site."""
    return _LINK.sub(lambda link: moved(link[1], page.file.src_uri), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Nothing of a page may come from another host."""
    if found := _FETCHED.search(output):
        log.warning("%s fetches from another host: %s", page.file.src_uri, found[0])
    return output


def unused_pictures(docs: Path) -> list[str]:
    """Pictures below docs/ that neither a page there nor the README shows."""
    pages = "\n".join(path.read_text() for path in (ROOT / "README.md", *docs.rglob("*.md")))
    return sorted(path.name for path in docs.rglob("*.png") if path.name not in pages)


def moved(link: str, site: str) -> str:
    """A link of the page at `site`, as it is on the site; a link to what the site does not have stays dead, and fails the build."""
    repository = HOME.get(site, f"docs/{site}")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(repository), link))
    if target in ELSEWHERE:
        target = f"docs/{ELSEWHERE[target]}"
    return posixpath.relpath(target, posixpath.dirname(f"docs/{site}")) if target.startswith("docs/") else link


def routes_page(document: dict) -> str:
    """Every row of the route table, by its section."""
    rows = [(path, method, one) for path, methods in document["paths"].items() for method, one in methods.items()]
    rows.sort(key=lambda row: row[2]["tags"][0])
    lines = [
        "# Routes",
        "",
        "Every address the server answers. `/docs` on a running server has bodies and examples, `/openapi.json` is for programs.",
    ]
    for section, found in groupby(rows, key=lambda row: row[2]["tags"][0]):
        lines += ["", f"## {section}", "", "| Address | Who | Permission | What it does |", "|---|---|---|---|"]
        for path, method, one in found:
            permission = f"`{one['x-permission']}`" if one["x-permission"] else ""
            lines.append(
                f"| `{method.upper()} {path}` | {AUTH[one['x-auth']]} | {permission} | {_cell(one['summary'])} |"
            )
    return "\n".join(lines)


def errors_page() -> str:
    """Every stable code."""
    import atrium.boot.wiring  # noqa: F401  (a code exists once its domain is imported)
    from atrium.edge.openapi import error_codes

    lines = [
        "# Errors",
        "",
        "A refusal is `application/problem+json` (RFC 9457). `detail` is for people; `code` is stable, for programs.",
        "",
        "| Code | Status | Meaning |",
        "|---|---|---|",
    ]
    return "\n".join(
        [
            *lines,
            *(f"| `{code}` | {status} | {title}. {_cell(meaning)} |" for code, status, title, meaning in error_codes()),
        ]
    )


def settings_page(listed: str) -> str:
    """`atrium settings`, as a table."""
    lines = [
        "# Settings",
        "",
        "Each is a variable of the environment.",
        "",
        "| Name | Default | Meaning |",
        "|---|---|---|",
    ]
    for name, default, meaning in re.findall(r"^(SERVICE_\w+)=(.*?)\n    (.+)$", listed, re.MULTILINE | re.DOTALL):
        shown = f"`{' '.join(default.split())}`" if default else ""
        lines.append(f"| `{name}` | {shown} | {_cell(meaning.splitlines()[0])} |")
    return "\n".join(lines)


def commands_page() -> str:
    """What each command says about itself."""
    listed = re.findall(r"^    (\w+) ", _said("--help"), re.MULTILINE)
    parts = ["# Commands", "", "```text", _said("--help").strip(), "```"]
    for name in listed:
        parts += ["", f"## atrium {name}", "", "```text", _said(name, "--help").strip(), "```"]
    return "\n".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _said(*arguments: str) -> str:
    command = [str(Path(sys.executable).parent / "atrium"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
