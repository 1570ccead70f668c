"""SQL of branding."""

from uuid import UUID

from atrium.kit.postgres.database import Database, Transaction
from atrium.product.branding.model import Layers, Theme

COLUMNS = (
    "title, tagline, theme, revision, own_title, own_tagline, own_theme, own_palette, own_revision, own_logo, logo"
)


async def read_public_layers(database: Database, hostname: str) -> Layers:
    """One statement and no transaction: every page load of everybody who has not signed in asks this."""
    async with database.borrow() as connection:
        row = await database.ask(connection, f"SELECT {COLUMNS} FROM find_branding($1)", hostname)
    return Layers(*row.values())


async def find_layers_on_host(db: Transaction, hostname: str) -> Layers | None:
    return await db.one(Layers, f"SELECT {COLUMNS} FROM find_branding(:hostname)", hostname=hostname)


async def find_company_layers(db: Transaction, org_id: UUID) -> Layers | None:
    return await db.one(
        Layers,
        """
        SELECT i.title, i.tagline, i.theme, i.revision, c.title, c.tagline, c.theme, c.palette, c.revision,
               c.logo IS NOT NULL, coalesce(c.logo, i.logo)
          FROM instance_branding i LEFT JOIN company_branding c ON c.org_id = :org_id
        """,
        org_id=org_id,
    )


async def lock_company(db: Transaction, org_id: UUID) -> None:
    """One editor of a company's look at a time, also while there is no row yet that could be locked."""
    await db.run(
        "SELECT pg_advisory_xact_lock(hashtext('atrium branding'), hashtext(:org_id::uuid::text))", org_id=org_id
    )


async def put_company(
    db: Transaction, org_id: UUID, title: str | None, tagline: str | None, theme: Theme, palette: Theme, revision: UUID
) -> None:
    await db.run(
        """
        INSERT INTO company_branding (org_id, title, tagline, theme, palette, revision)
        VALUES (:org_id, :title, :tagline, :theme, :palette, :revision)
        ON CONFLICT (org_id) DO UPDATE SET title = excluded.title, tagline = excluded.tagline, theme = excluded.theme,
                                           palette = excluded.palette, revision = excluded.revision
        """,
        org_id=org_id,
        title=title,
        tagline=tagline,
        theme=theme,
        palette=palette,
        revision=revision,
    )


async def put_company_logo(db: Transaction, org_id: UUID, logo: str | None, revision: UUID) -> None:
    await db.run(
        """
        INSERT INTO company_branding (org_id, logo, revision) VALUES (:org_id, :logo, :revision)
        ON CONFLICT (org_id) DO UPDATE SET logo = excluded.logo, revision = excluded.revision
        """,
        org_id=org_id,
        logo=logo,
        revision=revision,
    )


async def delete_company(db: Transaction, org_id: UUID) -> bool:
    return bool(await db.run("DELETE FROM company_branding WHERE org_id = :org_id", org_id=org_id))


async def lock_instance(db: Transaction) -> Layers | None:
    return await db.one(
        Layers,
        """
        SELECT title, tagline, theme, revision, NULL::text, NULL::text, NULL::jsonb, NULL::jsonb, NULL::uuid, false, logo
          FROM instance_branding FOR UPDATE
        """,
    )


async def update_instance(
    db: Transaction, title: str | None, tagline: str | None, theme: Theme, revision: UUID
) -> None:
    await db.run(
        "UPDATE instance_branding SET title = :title, tagline = :tagline, theme = :theme, revision = :revision",
        title=title,
        tagline=tagline,
        theme=theme,
        revision=revision,
    )


async def update_instance_logo(db: Transaction, logo: str | None, revision: UUID) -> None:
    await db.run("UPDATE instance_branding SET logo = :logo, revision = :revision", logo=logo, revision=revision)
