"""How values of jsonb go into PostgreSQL and come out of it."""

import msgspec

from atrium.kit.postgres.pool import Connection


async def teach_jsonb(connection: Connection) -> None:
    """Have jsonb go in and out as plain values."""
    async with connection.transaction():
        await connection.set_type_codec(
            "jsonb",
            schema="pg_catalog",
            format="binary",
            encoder=_encode_jsonb,
            decoder=lambda raw: msgspec.json.decode(raw[1:]),
        )


def _encode_jsonb(value: object) -> bytes:
    return b"\x01" + msgspec.json.encode(value)
