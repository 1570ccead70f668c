"""Plugins written to a folder for one test, whole or broken in one way."""

from pathlib import Path
from textwrap import dedent

MANIFEST = 'id = "{id}"\nname = "Probe"\nversion = "0.1.0"\ndescription = "For a test."\nentry = "plugin.py"\n'
WHOLE = '''
from atrium.sdk import Message, Operation, Parameter, Plugin, PluginRoute, Tool, Turn, UserError


async def answer(ctx, request):
    """Not what the reference shows."""
    return {"params": dict(request.params), "query": dict(request.query), "body": request.body}


async def complain(ctx, request):
    raise UserError("you did that", errors=[{"path": "text", "message": "no"}])


async def run(db, principal, arguments):
    return arguments


TOOL = Tool(name="{tool}", description="Echo.", permission="chat:use", effect="read", run=run)
TURN = Turn([Message("user", "x")])
FLOW = {"slug": "probe-flow", "start": "one", "max_steps": 3, "steps": [{"name": "one", "kind": "tool", "tool": "word_count"}]}
CHOICE = {"name": "one", "kind": "choice", "when": {"empty": ""}, "then": "one", "else": "one"}
EMAIL = {"name": "email", "type": "email", "label": "Your address", "required": True}
ROUTES = (
    PluginRoute("GET", "/echo", "chat:use", answer, "Echo the query."),
    PluginRoute("POST", "/echo/:name", "notes:manage", answer, "Echo the body."),
    PluginRoute("GET", "/complain", "chat:use", complain, "Always refuse."),
)
PLUGIN = Plugin(tools=(TOOL,), routes=ROUTES)
'''


def write_plugin(root: Path, id: str, code: str = "", *, folder: str = "", manifest: str | None = None) -> Path:
    """A plugin's folder; `code` goes after a whole plugin and may take it apart."""
    home = root / (folder or id)
    home.mkdir(parents=True)
    (home / "plugin.toml").write_text(MANIFEST.format(id=id) if manifest is None else manifest)
    (home / "plugin.py").write_text(WHOLE.replace("{tool}", f"{id.replace('-', '_')}_echo") + dedent(code))
    return home
