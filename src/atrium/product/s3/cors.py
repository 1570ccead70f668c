"""Cross-origin requests: any page may ask whether it may ask; what it may then read is the bucket's rules to say."""

from fnmatch import fnmatchcase

from atrium.product.s3 import buckets, xml
from atrium.product.s3.ask import Ask
from atrium.product.s3.model import Refusal
from atrium.product.s3.replies import Headers, empty
from atrium.seams.context import ANONYMOUS, Operation
from atrium.seams.routes import Download


def preflight(ask: Ask) -> Download:
    """A browser's question before the request. It carries no signature, so it cannot be answered for one bucket."""
    origin, method = ask.headers.get("origin"), ask.headers.get("access-control-request-method")
    if origin is None or method is None:
        raise Refusal("InvalidRequest", "Insufficient information. Origin request header needed.")
    headers = [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET, HEAD, PUT, POST, DELETE"),
        ("access-control-allow-headers", ask.headers.get("access-control-request-headers", "*")),
        ("access-control-max-age", "600"),
    ]
    return empty(200, headers)


async def headers_for(op: Operation, ask: Ask) -> Headers:
    """What lets a page on another origin read the reply: the first of the bucket's rules that fits."""
    origin = ask.headers.get("origin")
    if origin is None or ask.method == "OPTIONS" or op.who is ANONYMOUS or ask.bucket is None:
        return []
    try:
        async with op.begin() as ctx:
            rules = (await buckets.describe_bucket(ctx, ask.bucket)).cors
    except Refusal:
        return []
    for rule in xml.read(rules.encode(), "CORSConfiguration").all("CORSRule") if rules else ():
        if _fits(rule, origin, ask.method):
            exposed = ", ".join(one.content for one in rule.all("ExposeHeader"))
            headers = [("access-control-allow-origin", origin), ("vary", "Origin")]
            return headers + ([("access-control-expose-headers", exposed)] if exposed else [])
    return []


def _fits(rule: xml.Element, origin: str, method: str) -> bool:
    return any(fnmatchcase(origin, one.content.replace("[", "[[]")) for one in rule.all("AllowedOrigin")) and any(
        one.content == method for one in rule.all("AllowedMethod")
    )
