"""Comparison of a file with the messages there are: pure steps for threads, a batch of one locale at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.ids import new_id
from atrium.kit.text.catalogs import BASE, RefusedText
from atrium.kit.work.pace import pace
from atrium.product.localization import checks, store
from atrium.product.localization.disk import NOTHING_ABOUT, About, DiskSource
from atrium.product.localization.model import MessageRow

MOST_REFUSED = 1_000
COUNTED = ("added", "changed", "unchanged", "stale", "retired", "kept", "proposed")
Columns = dict[str, list[Any]]


@dataclass(slots=True)
class ImportBatch:
    """Messages of one locale on their way in; its counts are its own, because batches are judged in several threads at once."""

    locale: str
    by: UUID | None = None
    count: Counter[str] = field(default_factory=Counter)
    refused: list[RefusedText] = field(default_factory=list)


@dataclass(slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do."""

    locales: dict[str, Counter[str]] = field(default_factory=dict)
    refused: list[RefusedText] = field(default_factory=list)

    def of(self, locale: str) -> Counter[str]:
        """The counts of a locale."""
        return self.locales.setdefault(locale, Counter())

    def add(self, batch: ImportBatch) -> None:
        """Count a batch that was written."""
        self.of(batch.locale).update(batch.count)
        self.refused += batch.refused

    def shown(self) -> dict[str, Any]:
        """As the job's result."""
        counts = {locale: {name: found[name] for name in COUNTED} for locale, found in sorted(self.locales.items())}
        ordered = sorted(self.refused, key=lambda one: (one.locale, one.key))[:MOST_REFUSED]
        named = [{"locale": one.locale, "key": one.key, "code": one.code, "message": one.message} for one in ordered]
        return {"locales": counts, "refused": named, "refused_total": len(self.refused)}


@dataclass(slots=True)
class Wanted:
    """What the files say about one key of one locale; without a text they have none."""

    key: str
    source: str
    text: str | None
    about: About


def wanted_of(found: DiskSource, texts: Mapping[str, str], keys: Sequence[str]) -> tuple[list[Wanted], Columns]:
    """What the files say about these keys, one by one and as columns."""
    source, about = found.source.messages, found.about
    wanted = [Wanted(key, source[key], texts.get(key), about.get(key, NOTHING_ABOUT)) for key in pace(keys)]
    return wanted, _described(wanted)


def _described(wanted: Sequence[Wanted]) -> Columns:
    said = [one.about for one in wanted]
    return {
        "key": [one.key for one in wanted],
        "source": [one.source for one in wanted],
        "text": [one.text for one in wanted],
        "about": [one.about for one in said],
        "max_length": [one.max_length for one in said],
        "screens": ["\n".join(one.screens) for one in said],
    }


def fresh(batch: ImportBatch, wanted: Sequence[Wanted]) -> Columns:
    """Messages that were not there, as the columns that `insert_messages` takes: each approved with its file's text, or missing."""
    columns, texts = _described(wanted), [_sound(batch, one) for one in pace(wanted)]
    batch.count["added"] += len(wanted)
    # A source that cannot be read promises nothing, and no text but itself stands in for it.
    fits = [
        text is None or text == one.source or checks.is_readable(one.source)
        for one, text in pace(zip(wanted, texts, strict=True))
    ]
    return columns | {"id": [new_id() for _ in wanted], "text": texts, "fits": fits}


def columns_to_write(batch: ImportBatch, wanted: Sequence[Wanted], rows: Mapping[str, MessageRow]) -> Columns | None:
    """The messages that have to be written, as the columns that `put_messages` takes; None when there are none."""
    made = [_merge(batch, one, rows.get(one.key)) for one in pace(wanted)]
    return store.columns_of([one for one in pace(made) if one is not None]) if any(made) else None


def _merge(batch: ImportBatch, one: Wanted, row: MessageRow | None) -> dict[str, Any] | None:
    """The row as it should be; None where it can stay."""
    count, text = batch.count, _sound(batch, one)
    state = _state_of(row) | {"key": one.key, "source": one.source, "changed_by": batch.by}
    state |= {"about": one.about.about, "max_length": one.about.max_length, "screens": one.about.screens}
    if batch.locale == BASE:
        count["added" if row is None else "changed"] += 1
        return state | _approved(one.source, one.source, batch.by) | {"disk_text": one.text, "by_person": False}
    new = text is not None and text != state["disk_text"]
    if new:
        state["disk_text"] = text
    if new and state["by_person"] and text != state["text"]:
        count["kept"] += 1
        state |= _proposed(batch, one, text)
    elif new and not (state["status"] == "approved" and state["text"] == text and state["text_source"] == one.source):
        count["added" if row is None or row.text is None else "changed"] += 1
        person = state["by_person"] and text == state["text"]
        state |= _approved(one.source, text, batch.by) | {"by_person": person}
    elif row is None:
        count["added"] += 1
    return _unless_same(count, row, _judged(count, state))


def _unless_same(count: Counter[str], row: MessageRow | None, state: dict[str, Any]) -> dict[str, Any] | None:
    before = _state_of(row) if row else None
    if before is not None and not before["retired"] and before == {name: state[name] for name in before}:
        count["unchanged"] += 1
        return None
    return state


def _state_of(row: MessageRow | None) -> dict[str, Any]:
    if row is None:
        return {
            "id": new_id(),
            "text": None,
            "status": "missing",
            "fits": True,
            "by_person": False,
            "disk_text": None,
        } | {
            "comment": "",
            "pending_checks": [],
        }
    # `retired_at` is cleared by the statement.
    return {name: getattr(row, name) for name in row.__struct_fields__}


def _sound(batch: ImportBatch, one: Wanted) -> str | None:
    """The text of the file unless it would not work; then it is refused by name."""
    if one.text is None or batch.locale == BASE:
        return one.text
    errors = checks.errors_of(one.source, one.text, None)
    if not errors:
        return one.text
    batch.refused.append(RefusedText(batch.locale, one.key, errors[0].code, errors[0].message))
    return None


def _approved(source: str, text: str | None, by: UUID | None) -> dict[str, Any]:
    return {
        "text": text,
        "status": "approved",
        "text_source": source,
        "text_by": by,
        "text_at": datetime.now(UTC),
        "fits": True,
        "model": None,
        "drafted_at": None,
        "problem": None,
        "draft_job": None,
    }


def _proposed(batch: ImportBatch, one: Wanted, text: str | None) -> dict[str, Any]:
    found = checks.check(one.source, text or "", batch.locale, one.about.max_length)
    return {
        "pending_text": text,
        "pending_by": batch.by,
        "pending_at": datetime.now(UTC),
        "pending_checks": msgspec.to_builtins(found),
    }


def _judged(count: Counter[str], state: dict[str, Any]) -> dict[str, Any]:
    """The status that follows from the source of today: what was approved for another one is stale, a draft for another one is gone."""
    text = state["text"]
    if text is None:
        return state
    if state["text_source"] == state["source"]:
        restored = "approved" if state["status"] == "stale" else state["status"]
        return state | {"status": restored, "fits": checks.has_same_promises(state["source"], text)}
    if state["status"] == "machine":
        gone = dict.fromkeys(("text", "text_source", "text_by", "text_at", "model", "drafted_at"))
        return state | gone | {"status": "missing", "fits": True}
    count["stale"] += state["status"] != "stale"
    return state | {"status": "stale", "fits": checks.has_same_promises(state["source"], text)}


def proposals(batch: ImportBatch, texts: Mapping[str, str], rows: Mapping[str, MessageRow]) -> Columns | None:
    """Texts out of an object as proposals, as the columns that `put_messages` takes; None when none says anything new."""
    made = [_proposal(batch, key, text, rows.get(key)) for key, text in pace(texts.items())]
    chosen = [one for one in made if one is not None]
    batch.count["proposed"] += len(chosen)
    return store.columns_of(chosen) if chosen else None


def _proposal(batch: ImportBatch, key: str, text: str, row: MessageRow | None) -> dict[str, Any] | None:
    if row is None:
        batch.refused.append(RefusedText(batch.locale, key[:300], "unknown_key", "the catalog has no such key"))
        return None
    if text in (row.text, row.pending_text) and (row.status == "approved" or text == row.pending_text):
        batch.count["unchanged"] += 1
        return None
    found = checks.check(row.source, text, batch.locale, row.max_length)
    if errors := [one for one in found if one.level == "error"]:
        batch.refused.append(RefusedText(batch.locale, key, errors[0].code, errors[0].message))
        return None
    one = Wanted(key, row.source, text, About(row.about, row.max_length, row.screens))
    return _state_of(row) | _proposed(batch, one, text) | {"comment": "", "changed_by": batch.by}
