"""Cross-origin rules: read from their document once, kept as rules, written as a document of ours, matched as they are."""

from collections.abc import Iterable

from atrium.product.s3 import xml
from atrium.product.s3.model import CorsRule, S3Error
from atrium.product.s3.replies import Headers, empty
from atrium.product.s3.request import S3Request
from atrium.seams.routes import Download

LARGEST_DOCUMENT, MOST_RULES, MOST_TEXTS, LONGEST_TEXT = 64 << 10, 100, 100, 1024
_LONGEST_ID, _LONGEST_AGE = 255, 9
_METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE"})


def rules_in(raw: bytes) -> list[CorsRule]:
    """The rules in a CORSConfiguration document."""
    if len(raw) > LARGEST_DOCUMENT:
        raise S3Error("MalformedXML", f"a CORS configuration has at most {LARGEST_DOCUMENT} bytes")
    found = [_rule(one) for one in xml.read(raw, "CORSConfiguration").all("CORSRule")]
    if not 1 <= len(found) <= MOST_RULES:
        raise S3Error("MalformedXML", f"a CORS configuration has 1 to {MOST_RULES} rules")
    return found


def document_of(rules: list[CorsRule]) -> bytes:
    """The rules as a document."""
    return xml.document("CORSConfiguration", *map(_element, rules))


def preflight(request: S3Request) -> Download:
    """A browser's question before the request. It carries no signature, so it cannot be answered for one bucket."""
    origin, method = request.headers.get("origin"), request.headers.get("access-control-request-method")
    if origin is None or method is None:
        raise S3Error("InvalidRequest", "Insufficient information. Origin request header needed.")
    headers = [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET, HEAD, PUT, POST, DELETE"),
        ("access-control-allow-headers", request.headers.get("access-control-request-headers", "*")),
        ("access-control-max-age", "600"),
    ]
    return empty(200, headers)


def headers_for(rules: list[CorsRule], origin: str, method: str) -> Headers:
    """What lets a page on another origin read the reply: the first rule that fits says."""
    for rule in rules:
        if method in rule.methods and any(_fits(pattern, origin) for pattern in rule.origins):
            headers = [("access-control-allow-origin", origin), ("vary", "Origin")]
            exposed = ", ".join(rule.exposed)
            return headers + ([("access-control-expose-headers", exposed)] if exposed else [])
    return []


def _fits(pattern: str, origin: str) -> bool:
    before, star, after = pattern.partition("*")
    if not star:
        return origin == pattern
    return len(origin) >= len(before) + len(after) and origin.startswith(before) and origin.endswith(after)


def _rule(one: xml.Element) -> CorsRule:
    rule = CorsRule(
        id=_identifier(one),
        origins=_texts(one, "AllowedOrigin", most_stars=1),
        methods=_texts(one, "AllowedMethod"),
        headers=_texts(one, "AllowedHeader", most_stars=1),
        exposed=_texts(one, "ExposeHeader"),
        max_age=_age(one),
    )
    if not rule.origins or not rule.methods:
        raise S3Error("MalformedXML", "a CORSRule has an AllowedOrigin and an AllowedMethod")
    for method in rule.methods:
        if method not in _METHODS:
            raise S3Error(
                "InvalidRequest", f"Found unsupported HTTP method in CORS config. Unsupported method is {method}"
            )
    return rule


def _texts(rule: xml.Element, name: str, most_stars: int = 0) -> list[str]:
    found = [text.strip() for text in rule.texts(name)]
    if len(found) > MOST_TEXTS:
        raise S3Error("MalformedXML", f"a CORSRule has at most {MOST_TEXTS} of {name}")
    for text in found:
        if not 1 <= len(text) <= LONGEST_TEXT or not text.isprintable() or not text.isascii():
            raise S3Error("InvalidRequest", f"{name} has 1 to {LONGEST_TEXT} printable ASCII characters")
        if text.count("*") > most_stars:
            raise S3Error("InvalidRequest", f'{name} "{text}" can not have more than {most_stars} wildcards.')
    return found


def _identifier(rule: xml.Element) -> str | None:
    text = rule.text("ID")
    if text is not None and len(text) > _LONGEST_ID:
        raise S3Error("InvalidRequest", f"the ID of a CORSRule has at most {_LONGEST_ID} characters")
    return text or None


def _age(rule: xml.Element) -> int | None:
    text = (rule.text("MaxAgeSeconds") or "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_AGE):
        raise S3Error("MalformedXML", "MaxAgeSeconds is a number of seconds")
    return int(text)


def _element(rule: CorsRule) -> str:
    return xml.element(
        "CORSRule",
        xml.optional("ID", rule.id),
        _leaves("AllowedHeader", rule.headers),
        _leaves("AllowedMethod", rule.methods),
        _leaves("AllowedOrigin", rule.origins),
        _leaves("ExposeHeader", rule.exposed),
        xml.optional("MaxAgeSeconds", rule.max_age),
    )


def _leaves(name: str, texts: Iterable[str]) -> str:
    return "".join(xml.leaf(name, text) for text in texts)
