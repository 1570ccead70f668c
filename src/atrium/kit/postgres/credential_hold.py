"""The first words of a writing transaction: the credential it stands on, and the people whose credentials it will end."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from atrium.kit.errors import AppError, Moving, Suspended, TenantSuspended, Unauthenticated

_ENDED, _MOVING = "AT401", "AT404"
_SUSPENDED = {"AT402": Suspended, "AT403": TenantSuspended}


class CredentialHold(NamedTuple):
    """A credential that has to stand until the commit; `function` is PostgreSQL's way to look for its kind."""

    function: str
    person: UUID
    credential: UUID
    writing: bool


def statement(hold: CredentialHold | None, ending: Collection[UUID] = ()) -> str:
    """What to say right after BEGIN, in the same round trip; nothing when there is nothing to hold or to end."""
    people = f"'{{{','.join(map(str, ending))}}}'" if ending else "NULL"
    if hold is not None:
        held = f"{hold.function}('{hold.person}','{hold.credential}',{hold.writing},{people})"
        return f";SELECT {held},set_config('app.user_id','{hold.person}',true)"
    return f";SELECT lock_people(NULL,{people})" if ending else ""


def refusal_of(error: BaseException) -> AppError | None:
    """What a transaction was told that began too late; None for any other failure."""
    state = getattr(error, "sqlstate", None)
    if state == _ENDED:
        return Unauthenticated("this credential ended while the request was under way; sign in again")
    if state == _MOVING:
        return Moving()
    if state in _SUSPENDED:
        return _SUSPENDED[state]("writing was suspended while the request was under way; nothing of it was kept")
    return None
