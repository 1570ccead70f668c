"""What an archive must not carry, signed or not: rows of others, power over the instance, references to strangers."""

from dataclasses import dataclass, field
from uuid import UUID

from atrium.admin.backups.model import SchemaVersion
from atrium.admin.moving import lines
from atrium.admin.moving.archive import Archive, rows_name
from atrium.admin.moving.model import MoveManifest, MoveRefused, Table
from atrium.ground.access.model import ROLES

_UUID = 36


@dataclass(slots=True)
class ArchiveNames:
    """What the rows of an archive name: people by name, and whatever has an id."""

    usernames: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    rows: int = 0


def require_schema(manifest: MoveManifest, schema: SchemaVersion) -> None:
    """Refuse a schema other than ours: rows of another one would not mean the same."""
    if manifest.schema.number != schema.number:
        newer = manifest.schema.number > schema.number
        raise MoveRefused(
            f"the archive's schema is at {manifest.schema.number} and this instance's at {schema.number};"
            f" bring {'this instance' if newer else 'the other instance'} to the same release first"
        )
    if manifest.schema.checksum != schema.checksum:
        raise MoveRefused("the archive's schema was made by other migrations than this instance's")


def require_tables(manifest: MoveManifest, tables: list[Table]) -> None:
    """Refuse other tables or columns than this instance has."""
    known = {table.name: table.columns for table in tables}
    for name in sorted(known.keys() ^ manifest.tables.keys()):
        raise MoveRefused(
            f"the table {name} is {'not in the archive' if name in known else 'not one of this instance'}"
        )
    for name, columns in known.items():
        if manifest.tables[name].columns != columns:
            raise MoveRefused(f"the archive's {name} has other columns than this instance's")


def judge(archive: Archive, tables: list[Table]) -> ArchiveNames:
    """Read every row; refuse the archive at the first that has no place in a company."""
    found = ArchiveNames()
    for table in tables:
        _judge_table(archive, table, found)
    if archive.manifest.tables["orgs"].rows != 1:
        raise MoveRefused("the archive holds another number of companies than one")
    return found


def _judge_table(archive: Archive, table: Table, found: ArchiveNames) -> None:
    org_id, splitter, count = str(archive.manifest.company.id).encode(), lines.Splitter(), 0
    own, width = table.columns.index(table.org_column), len(table.columns)
    ids = [table.columns.index(column) for column in table.ids]
    for piece in archive.pieces(rows_name(table.name)):
        for line in splitter.lines(piece):
            fields, count = line.split(b"\t"), count + 1
            if len(fields) != width or line == b"\\.":
                raise MoveRefused(f"row {count} of {table.name} is not a row")
            if fields[own] != org_id:
                raise MoveRefused(f"row {count} of {table.name} belongs to another company")
            if table.name == "users":
                _judge_person(dict(zip(table.columns, fields, strict=True)), found)
            for place in ids:
                _note(fields[place], table.name, found)
    if splitter.rest or count != archive.manifest.tables[table.name].rows:
        raise MoveRefused(f"{table.name} has {count} rows, {archive.manifest.tables[table.name].rows} were written")
    found.rows += count


def _judge_person(row: dict[str, bytes], found: ArchiveNames) -> None:
    name = lines.text_of(row["username"])
    if row["operator"] != b"f":
        raise MoveRefused(f"the archive makes {name!r} an operator of this instance; operators do not move")
    if row["role"].decode() not in ROLES:
        raise MoveRefused(f"{name!r} has the role {row['role'].decode()!r}, which there is not")
    found.usernames.append(name)


def _note(value: bytes, table: str, found: ArchiveNames) -> None:
    """One id, or those of an array."""
    if value == lines.NULL:
        return
    for one in value.strip(b"{}").split(b","):
        if len(one) == _UUID:
            found.ids.setdefault(one.decode(), table)


def ids_of(found: ArchiveNames) -> list[UUID]:
    """Every id that rows name; what is none is refused by PostgreSQL's types later."""
    ids = []
    for text in found.ids:
        try:
            ids.append(UUID(text))
        except ValueError as error:
            raise MoveRefused(f"a row of {found.ids[text]} has {text!r} in place of an id") from error
    return ids
