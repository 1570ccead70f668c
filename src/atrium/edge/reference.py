"""The reference page for people: the table, the settings-free part of the interface and every error code, without a script."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from atrium import __version__
from atrium.edge.endpoint import Endpoint
from atrium.edge.openapi import error_codes

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2330;--soft:#586174;--line:#dfe3ea;--paper:#fff;--code:#f4f6f9;--mark:#2f5bd7}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--soft:#a3acbd;--line:#323a48;--paper:#151a22;--code:#1f2630;--mark:#8fb0ff}}
body{margin:0 auto;max-width:64rem;padding:2rem 1rem 4rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2.5rem 0 .5rem}p{color:var(--soft);margin:.25rem 0}
a{color:var(--mark)}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
td,th{padding:.45rem .6rem;border-top:1px solid var(--line);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600}code{font:.85rem ui-monospace,monospace;background:var(--code);padding:.1rem .3rem;border-radius:4px}
.method{font:600 .8rem ui-monospace,monospace;color:var(--mark)}tr:target{background:var(--code)}
"""
_ACCESS = {
    "P": "anybody",
    "B": "bearer",
    "PV": "provisioning token",
    "SA": "operator",
    "OA": "company role",
    "S3": "S3 signature",
}


def policy() -> str:
    """The page's content policy: nothing but its own style."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def page(endpoints: Sequence[Endpoint]) -> bytes:
    """The page."""
    return "".join(_parts(endpoints)).encode()


def _parts(endpoints: Sequence[Endpoint]) -> Iterator[str]:
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Atrium {__version__}: interface</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    yield f"<h1>Atrium {__version__}</h1><p>Every address this server answers, from the same table that answers them. "
    yield 'For programs: <a href="/openapi.json">openapi.json</a>. Send <code>Authorization: Bearer &lt;token&gt;</code>; '
    yield "<code>POST /api/login</code> gives you one.</p>"
    for section, rows in groupby(endpoints, key=lambda endpoint: endpoint.route.section):
        yield f'<h2>{escape(section)}</h2><div class="scroll"><table><tr><th>Address<th>Who<th>Permission<th>What it does'
        for endpoint in rows:
            yield _row(endpoint)
        yield "</table></div>"
    yield '<h2 id="errors">Refusals</h2><p>Bodies are <code>application/problem+json</code>; <code>code</code> is stable.</p>'
    yield '<div class="scroll"><table><tr><th>Code<th>Status<th>Meaning'
    for code, status, title, meaning in error_codes():
        yield f'<tr id="{escape(code)}"><td><code>{escape(code)}</code><td>{status}<td>{escape(title)}. {escape(meaning)}'
    yield "</table></div></body></html>"


def _row(endpoint: Endpoint) -> str:
    route = endpoint.route
    permission = f"<code>{escape(route.permission)}</code>" if route.permission else ""
    feature = f" (feature {escape(route.feature)})" if route.feature else ""
    summary = escape(endpoint.summary)
    return (
        f'<tr><td><span class="method">{route.method}</span> <code>{escape(route.path)}</code>'
        f"<td>{_ACCESS[route.auth.value]}<td>{permission}{feature}<td>{summary}"
    )
