"""On which company's account a request waits for a connection before its credential was looked up."""

from uuid import UUID

_MOST = 50_000


class Owners:
    """The companies whose credentials came lately."""

    def __init__(self) -> None:
        # By a number that says nothing of the credential; two that meet in one share an account, and nothing else.
        self._companies: dict[int, UUID] = {}

    def find(self, token: bytes) -> UUID | None:
        """The company whose credential it was the last time; None for one that never came."""
        return self._companies.get(hash(token))

    def note(self, token: bytes, org_id: UUID) -> None:
        """A credential turned out to be this company's."""
        if len(self._companies) >= _MOST:
            self._companies.clear()
        self._companies[hash(token)] = org_id
