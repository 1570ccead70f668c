"""What a form's policy allows: until when, which fields with which values, how large a file."""

import json
from base64 import b64decode
from binascii import Error
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from atrium.product.s3.model import S3Error

# Fields that a policy need not mention: the signature's own, those meant to be ignored, and what only checks the file.
_UNMENTIONED = frozenset({"awsaccesskeyid", "signature", "policy", "x-amz-signature", "file", "bucket"})
_LONGEST = timedelta(days=7, minutes=15)
_FREE = ("x-ignore-", "x-amz-checksum-")


class Condition(msgspec.Struct, frozen=True):
    """A field that must be a value, or begin with one."""

    field: str
    value: str
    exact: bool

    def holds(self, value: str) -> bool:
        """Whether a field's value is what the condition asks for."""
        return value == self.value if self.exact else value.startswith(self.value)


class PostPolicy(msgspec.Struct, frozen=True):
    """The policy of a form upload (POST), read."""

    conditions: list[Condition]
    least: int = 0
    most: int | None = None

    def require(self, fields: Mapping[str, str]) -> None:
        """Refuse unless every condition holds and every field was allowed by one."""
        for condition in self.conditions:
            if not condition.holds(fields.get(condition.field, "")) or condition.field not in fields:
                raise _denied(f"the field {condition.field} is not what the policy asks for")
        mentioned = {condition.field for condition in self.conditions} | _UNMENTIONED
        for name in fields:
            if name not in mentioned and not name.startswith(_FREE):
                raise _denied(f"Extra input fields: {name}")

    def require_size(self, size: int) -> None:
        """Refuse a file that is smaller or larger than allowed."""
        if size < self.least:
            raise S3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
        if self.most is not None and size > self.most:
            raise S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")

    async def bounded(self, source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The file's bytes, until they are too many."""
        size = 0
        async for piece in source:
            size += len(piece)
            if self.most is not None and size > self.most:
                self.require_size(size)
            yield piece


def read_policy(text: str, now: datetime) -> PostPolicy:
    """The policy in its base64; refused when it cannot be read or has expired."""
    try:
        document = json.loads(b64decode(text, validate=True))
    except (Error, ValueError, RecursionError) as error:
        raise _malformed("the policy is not JSON in base64") from error
    if not isinstance(document, dict) or not isinstance(document.get("expiration"), str):
        raise _malformed("Policy missing expiration.")
    conditions = document.get("conditions")
    if not isinstance(conditions, list) or not conditions:
        raise _malformed("Policy missing conditions.")
    until = _moment(document["expiration"])
    if until < now:
        raise _denied("Policy expired.")
    if until - now > _LONGEST:
        raise _denied("a form works for at most 7 days")
    return _policy_of(conditions)


def _policy_of(conditions: list[Any]) -> PostPolicy:
    found: list[Condition] = []
    least, most = 0, None
    for one in conditions:
        if isinstance(one, dict) and one:
            found += [Condition(str(name).lower(), _plain(value), True) for name, value in one.items()]
        elif not isinstance(one, list) or len(one) != 3:
            raise _malformed("a condition is an object, or a list of three")
        elif (verb := str(one[0]).lower()) == "content-length-range":
            least, most = _range(one[1], one[2])
        elif verb in ("eq", "starts-with") and isinstance(one[1], str) and one[1].startswith("$"):
            found.append(Condition(one[1][1:].lower(), _plain(one[2]), verb == "eq"))
        else:
            raise _malformed(f"unknown condition {str(one[0])[:40]}")
    return PostPolicy(found, least, most)


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        raise _malformed("a condition's value is a text")
    return value


def _range(least: Any, most: Any) -> tuple[int, int]:
    try:
        bounds = int(least), int(most)
    except (TypeError, ValueError, OverflowError) as error:
        raise _malformed("content-length-range takes two numbers") from error
    if bounds[0] < 0 or bounds[1] < 0:
        raise _malformed("content-length-range takes two numbers that are not negative")
    return bounds


def _moment(text: str) -> datetime:
    # The wire's one form; what a general reader would also take is refused, as S3 does.
    for form in ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise _malformed("Invalid 'expiration' value")


def _malformed(message: str) -> S3Error:
    return S3Error("InvalidPolicyDocument", f"Invalid Policy: {message}")


def _denied(message: str) -> S3Error:
    return S3Error("AccessDenied", f"Invalid according to Policy: {message}")
