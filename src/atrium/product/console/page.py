"""The console's one page: the built file with this instance's facts written into it, and the policy it runs under."""

import base64
import hashlib
from html import escape
from pathlib import Path

import msgspec

from atrium.product.console.model import PageFacts
from atrium.seams.routes import Content

HTML = "text/html; charset=utf-8"
# Trusted Types leave the page no way to turn text into script; styles come from files and constructed sheets only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'; require-trusted-types-for 'script'; trusted-types console"
)
# A service worker has no page: it fetches from this server only.
WORKER_POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_TITLE, _FACTS = "<title>Atrium</title>", '<script type="application/json" id="boot">{}</script>'
_STYLE = (
    "body{margin:0;display:grid;min-height:100vh;place-items:center;font:16px/1.6 system-ui,sans-serif;color-scheme:light dark;"
    "background:Canvas;color:CanvasText}main{max-width:34rem;padding:2rem}code{font:.9em ui-monospace,monospace}"
    "pre{padding:1rem;border:1px solid GrayText;border-radius:8px;overflow:auto}"
)
_UNBUILT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Atrium</title>
<meta name="viewport" content="width=device-width"><style>{style}</style></head><body><main>
<h1>The server runs without its console</h1>
{advice}
<p>Programs can use the server as it is: see <a href="/docs">the reference</a>.</p></main></body></html>
"""
# Nothing else is needed: the files of a checkout are read for each request.
_IN_CHECKOUT = """<p>Build the console in the checkout that the server runs from (Node 20.19 or newer), then load this page again:</p>
<pre>make console</pre>"""
_INSTALLED = """<p>This server was installed without a console. In a checkout of Atrium, build the console (Node 20.19 or newer),
then install again into the same environment:</p>
<pre>make console
.venv/bin/pip install '.[local]'</pre>
<p>Stop the server and start it again.</p>"""


def page(dist: Path, facts: PageFacts) -> Content:
    """The page for this instance, or how to build it when there is no build."""
    index = dist / "index.html"
    if not index.is_file():
        advice = _IN_CHECKOUT if (dist.parent / "package.json").is_file() else _INSTALLED
        return Content(_UNBUILT.format(style=_STYLE, advice=advice).encode(), HTML, _unbuilt_policy())
    return Content(_filled(index.read_text("utf-8"), facts).encode(), HTML, POLICY)


def _filled(built: str, facts: PageFacts) -> str:
    # A `<` inside the block could end it early; JSON can spell it otherwise.
    block = msgspec.json.encode(facts).decode().replace("<", "\\u003c")
    return built.replace(_TITLE, f"<title>{escape(facts.title)}</title>", 1).replace(
        _FACTS, _FACTS.replace("{}", block), 1
    )


def _unbuilt_policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
