"""Notes and objects as a model has them: what they say, who may do what with them, and whether they are in the trash."""

from dataclasses import dataclass, field
from typing import Literal

Marker = None
# What each share lets somebody do; the words of notes and of objects.
OF_NOTES = {
    "notes:read": {"read"},
    "notes:write": {"read", "write"},
    "notes:delete": {"read", "delete"},
    "notes:manage": {"read", "write", "delete", "manage"},
}
OF_OBJECTS = {"view": {"read"}, "edit": {"read", "write"}, "manage": {"read", "write", "delete", "manage"}}


@dataclass(slots=True)
class Thing:
    """A note or an object. `texts` by version; one without a text is a delete marker."""

    id: str
    kind: Literal["note", "object"]
    owner: int
    visibility: str
    title: str
    texts: dict[int, str | None] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    authors: dict[int, int] = field(default_factory=dict)
    grants: dict[int, str] = field(default_factory=dict)
    trashed_by: int | None = None
    purged: bool = False

    @property
    def live(self) -> bool:
        return self.trashed_by is None and not self.purged

    @property
    def trashed(self) -> bool:
        return self.trashed_by is not None and not self.purged

    @property
    def current(self) -> str | None:
        return self.texts[max(self.texts)]

    @property
    def size(self) -> int:
        """What the quota counts until it is purged: every version's bytes, and of notes the titles."""
        if self.purged:
            return 0
        titles = sum(len(title.encode()) for title in self.titles.values()) if self.kind == "note" else 0
        return titles + sum(len(text.encode()) for text in self.texts.values() if text is not Marker)

    def may(self, person: int, admin: bool, permission: str) -> bool:
        """Whether somebody holds a permission on it: as owner, by a share, or by a role on what the team sees."""
        if person == self.owner:
            return True
        shared = (OF_NOTES | OF_OBJECTS)[self.grants[person]] if person in self.grants else set()
        by_role = {"read", "write"} | ({"delete", "manage"} if admin else set())
        return permission in shared or (self.visibility == "team" and permission in by_role)

    def sees_trashed(self, person: int, admin: bool) -> bool:
        """Whether it is in somebody's trash: the owner's always, a manager's unless it is private."""
        if person == self.owner:
            return True
        managed = (self.visibility == "team" and admin) or self.grants.get(person) in ("notes:manage", "manage")
        return managed and self.visibility != "private"

    def save(self, number: int, person: int, text: str | None) -> None:
        self.texts[number], self.titles[number], self.authors[number] = text, self.title, person
