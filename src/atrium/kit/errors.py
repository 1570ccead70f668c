"""Refusals a caller can understand. Each has a kind and a stable code; no status numbers here."""

from collections.abc import Iterator
from enum import Enum, auto


class Kind(Enum):
    """What went wrong, in words every gateway can translate to its own wire."""

    INVALID = auto()
    UNAUTHENTICATED = auto()
    SUSPENDED = auto()
    MOVED = auto()
    FORBIDDEN = auto()
    MISSING = auto()
    METHOD = auto()
    CONFLICT = auto()
    STALE = auto()
    TOO_LARGE = auto()
    HEAD = auto()
    RANGE = auto()
    MEDIA = auto()
    REFUSED = auto()
    EXHAUSTED = auto()
    UPSTREAM = auto()
    UNAVAILABLE = auto()


class AppError(Exception):
    """A refusal: `code` is for programs and stable, `message` is for people, `facts` travel beside them."""

    kind = Kind.INVALID
    code = "request.invalid"
    title = "The request is not valid"
    # Whether the same again would end the same way, also where refusals of its kind pass.
    lasting = False

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts


class Invalid(AppError):
    """Malformed or against a rule that the caller can read."""


class Unauthenticated(AppError):
    """No credential, or one that does not count."""

    kind, code, title = Kind.UNAUTHENTICATED, "identity.unauthenticated", "Sign in first"


class Suspended(AppError):
    """Writing while the company is suspended."""

    kind, code, title = Kind.SUSPENDED, "tenancy.suspended", "This company is suspended"


class TenantSuspended(Suspended):
    """Writing while the whole hosted tenant is suspended."""

    code, title = "hosting.suspended", "This workspace is suspended"


class Moving(Suspended):
    """Writing while the company is on its way to another server."""

    code, title = "tenancy.moving", "This company is moving"

    def __init__(self) -> None:
        super().__init__(
            "this company is moving to another server: reading works, writing does again when it has arrived;"
            " try again in a minute",
            retry_after=30,
        )


class Moved(AppError):
    """Asked here for a company that another server has."""

    kind, code, title = Kind.MOVED, "tenancy.moved", "This company has moved"

    def __init__(self, location: str) -> None:
        super().__init__(
            f"this company has moved to {location}; ask there, with the same credential", location=location
        )


class Forbidden(AppError):
    """The caller is known and may see the thing, but may not do this."""

    kind, code, title = Kind.FORBIDDEN, "access.forbidden", "Not allowed"


class Missing(AppError):
    """Absent, or not visible to this caller: the two must look the same."""

    kind, code, title = Kind.MISSING, "request.missing", "Nothing here"


class Conflict(AppError):
    """The state of things does not allow it now."""

    kind, code, title = Kind.CONFLICT, "request.conflict", "Conflicts with what is there"


class Stale(AppError):
    """The caller's copy is older than the stored one."""

    kind, code, title = Kind.STALE, "request.stale", "Changed in the meantime"


class TooLarge(AppError):
    """More bytes than this route takes."""

    kind, code, title = Kind.TOO_LARGE, "request.too_large", "Too large"


class Exhausted(AppError):
    """Too often or too much; `retry_after` says when to come back."""

    kind, code, title = Kind.EXHAUSTED, "limits.exceeded", "Too many requests"


class Unavailable(AppError):
    """Not ready to answer; trying again later is right."""

    kind, code, title = Kind.UNAVAILABLE, "instance.unavailable", "Not available right now"


def refusals() -> Iterator[type[AppError]]:
    """Every refusal there is, the most general first."""
    waiting: list[type[AppError]] = [AppError]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        yield one


def title_of(code: str) -> str | None:
    """The sentence that every refusal with this code has, which holds no value; None for a code that no refusal has."""
    if code not in _titles:
        for one in refusals():
            _titles.setdefault(one.code, one.title)
    return _titles.get(code)


_titles: dict[str, str] = {}
