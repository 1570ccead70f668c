"""The reference page for people: the table, the settings-free part of the interface and every error code, without a script."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

import msgspec

from atrium import __version__
from atrium.edge.endpoint import Endpoint
from atrium.edge.openapi import address_of, document, error_codes
from atrium.seams.routes import CredentialClass, Route

# The console's own colours, font and corners (console/src/styles.css).
_STYLE = """
:root{color-scheme:light dark;--bg:#f7f8fa;--surface:#fff;--raised:#eef0f4;
--text:#14171f;--muted:#565d6d;--line:#dcdfe6;--link:#3240c9;--soft:#e8eafd}
@media(prefers-color-scheme:dark){:root{--bg:#0e1116;--surface:#161a22;--raised:#1f2530;
--text:#e8ebf1;--muted:#a2abbb;--line:#2a313e;--link:#a3acff;--soft:#232a4d}}
body{margin:0;background:var(--bg);color:var(--text);font:.875rem/1.45 Inter,ui-sans-serif,system-ui,sans-serif}
main{margin:0 auto;max-width:72rem;padding:2rem 1rem 4rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.05rem;margin:2.25rem 0 .5rem}p{color:var(--muted);margin:.25rem 0;max-width:48rem}
a,summary{color:var(--link)}summary{cursor:pointer;margin-top:.25rem}
.scroll{overflow-x:auto;background:var(--surface);border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%}td,th{padding:.5rem .75rem;border-top:1px solid var(--line);text-align:start;vertical-align:top}
.scroll>table>tbody>tr:first-child>*{border-top:0}th{color:var(--muted);font-weight:600}
details table{margin:.4rem 0;font-size:.8125rem}details td,details th{padding:.25rem .6rem}
h3{font-size:.8125rem;margin:.75rem 0 0;color:var(--muted)}
code,pre{font:.8125rem ui-monospace,monospace;background:var(--raised);border-radius:4px}code{padding:.1rem .3rem}
pre{margin:.4rem 0;padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;border-radius:8px}
.method{font:600 .75rem ui-monospace,monospace;color:var(--link)}tr:target{background:var(--soft)}
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
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
    yield f"<h1>Atrium {__version__}</h1><p>Every address this server answers, from the same table that answers them. "
    yield 'For programs: <a href="/openapi.json">openapi.json</a>. Send <code>Authorization: Bearer &lt;token&gt;</code>; '
    yield "<code>POST /api/login</code> gives you one.</p>"
    described = document(endpoints)
    for section, rows in groupby(endpoints, key=lambda endpoint: endpoint.route.section):
        yield f'<h2>{escape(section)}</h2><div class="scroll"><table><tr><th>Address<th>Who<th>Permission<th>What it does'
        for endpoint in rows:
            yield _row(endpoint, described)
        yield "</table></div>"
    yield '<h2 id="errors">Refusals</h2><p>Bodies are <code>application/problem+json</code>; <code>code</code> is stable.</p>'
    yield '<div class="scroll"><table><tr><th>Code<th>Status<th>Meaning'
    for code, status, title, meaning in error_codes():
        yield f'<tr id="{escape(code)}"><td><code>{escape(code)}</code><td>{status}<td>{escape(title)}. {escape(meaning)}'
    yield "</table></div></main></body></html>"


def _row(endpoint: Endpoint, described: dict[str, Any]) -> str:
    route = endpoint.route
    permission = f"<code>{escape(route.permission)}</code>" if route.permission else ""
    feature = f" (feature {escape(route.feature)})" if route.feature else ""
    summary = escape(endpoint.summary)
    return (
        f'<tr><td><span class="method">{route.method}</span> <code>{escape(route.path)}</code>'
        f"<td>{_ACCESS[route.auth.value]}{_reach(route)}<td>{permission}{feature}<td>{summary}{_details(endpoint, described)}"
    )


def _details(endpoint: Endpoint, described: dict[str, Any]) -> str:
    """Parameters, fields of the body with an example, and fields of the reply; nothing for a row without any."""
    methods = described["paths"].get(address_of(endpoint.route), {})
    operation, named = methods.get(endpoint.route.method.lower()), described["components"]["schemas"]
    if operation is None:
        return ""
    parts = [_parameters(operation), _body(operation, named), _reply(operation, named)]
    return f"<details><summary>Details</summary>{''.join(parts)}</details>" if any(parts) else ""


def _parameters(operation: dict[str, Any]) -> str:
    rows = [
        (one["name"], _type(one["schema"]), one["required"], f"{one['description']} ({one['in']})")
        for one in operation["parameters"]
    ]
    return _fields("Parameters", rows)


def _body(operation: dict[str, Any], named: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return "<h3>Body</h3><p>The bytes themselves.</p>" if content else ""
    body = content["application/json"]
    example = msgspec.json.format(msgspec.json.encode(body["example"]), indent=2).decode()
    return f"{_fields('Body', _rows_of(body['schema'], named))}<pre>{escape(example)}</pre>"


def _reply(operation: dict[str, Any], named: dict[str, Any]) -> str:
    done = next(reply for status, reply in operation["responses"].items() if status.startswith("2"))
    schema = done.get("content", {}).get("application/json", {}).get("schema", {})
    return "".join(_fields("Reply", _rows_of(one, named)) for one in schema.get("anyOf", [schema]))


def _rows_of(schema: dict[str, Any], named: dict[str, Any]) -> list[tuple[str, str, bool, str]]:
    struct = named.get(schema.get("$ref", "").rpartition("/")[2], schema)
    required = struct.get("required", ())
    return [
        (name, _type(field), name in required, field.get("description", ""))
        for name, field in struct.get("properties", {}).items()
    ]


def _fields(title: str, rows: list[tuple[str, str, bool, str]]) -> str:
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{escape(kind)}{'' if required else ', optional'}<td>{escape(meaning)}"
        for name, kind, required, meaning in rows
    )
    return f"<h3>{title}</h3><table>{cells}</table>" if rows else ""


def _type(schema: dict[str, Any]) -> str:
    """A schema in a few words: its values, its alternatives, or its name."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2].rpartition(".")[2])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type", "anything"))


def _reach(route: Route) -> str:
    """Which credentials a row without a permission keeps out."""
    if isinstance(route.accepts, frozenset):
        return f", a scope with {escape(' or '.join(sorted(route.accepts)))}"
    return {CredentialClass.SESSION: ", signed in", CredentialClass.UNSCOPED: " without a scope"}.get(
        route.accepts or CredentialClass.ANY, ""
    )
