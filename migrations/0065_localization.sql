-- owner: localization
-- The console's messages in every locale. They belong to the instance, so their rows are those of its first company: another company's
-- transaction sees none. The serving role writes messages alone; counts, revisions and the history follow from what it writes.
ALTER TABLE instance ADD COLUMN locales text[] NOT NULL DEFAULT '{}', ADD COLUMN serve_machine boolean NOT NULL DEFAULT false;

CREATE TABLE l10n_messages (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  locale text COLLATE "C" NOT NULL CHECK (locale ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$'),
  ns text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (key LIKE ns || '.%'),
  source text NOT NULL,
  about text NOT NULL DEFAULT '',
  max_length int,
  screens text[] NOT NULL DEFAULT '{}',
  -- What is served, the source it was approved for, and whether it promises the same arguments and tags as the source of today.
  text text,
  status text NOT NULL DEFAULT 'missing' CHECK (status IN ('approved', 'machine', 'missing', 'stale')),
  text_source text,
  fits boolean NOT NULL DEFAULT true,
  -- Whether a person approved it: then no file replaces it.
  by_person boolean NOT NULL DEFAULT false,
  text_by uuid,
  text_at timestamptz,
  -- What the catalog on disk said last; an import acts only where it says something else.
  disk_text text,
  pending_text text,
  pending_by uuid,
  pending_at timestamptz,
  pending_checks jsonb NOT NULL DEFAULT '[]',
  comment text NOT NULL DEFAULT '',
  model text,
  drafted_at timestamptz,
  -- The job that drafts it now, and why the last one left it without a draft.
  draft_job uuid,
  problem text,
  retired_at timestamptz,
  changed_by uuid,
  revision bigint NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, locale, key),
  CHECK ((text IS NULL) = (status = 'missing'))
);
CREATE INDEX l10n_messages_by_status ON l10n_messages (org_id, locale, status, key) WHERE retired_at IS NULL;
CREATE INDEX l10n_messages_pending ON l10n_messages (org_id, locale, key) WHERE pending_text IS NOT NULL AND retired_at IS NULL;
CREATE INDEX l10n_messages_drafting ON l10n_messages (org_id, draft_job) WHERE draft_job IS NOT NULL;
CREATE INDEX l10n_messages_retired ON l10n_messages (retired_at) WHERE retired_at IS NOT NULL;
CALL wall_off('l10n_messages');
GRANT SELECT, INSERT, UPDATE ON l10n_messages TO atrium_app;
GRANT SELECT (org_id, locale, ns, key, text, status, fits, retired_at, id), DELETE ON l10n_messages TO atrium_system;

-- Every text that was served or proposed and no longer is, with who replaced it. No role may change a row.
CREATE TABLE l10n_history (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  message_id uuid NOT NULL,
  locale text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  text text NOT NULL,
  was text NOT NULL CHECK (was IN ('approved', 'machine', 'stale', 'pending')),
  text_by uuid,
  text_at timestamptz,
  replaced_by uuid,
  replaced_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX l10n_history_of_message ON l10n_history (org_id, message_id, replaced_at);
CALL wall_off('l10n_history');
GRANT SELECT ON l10n_history TO atrium_app;
GRANT INSERT ON l10n_history TO atrium_system;

CREATE TABLE l10n_counts (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  locale text COLLATE "C" NOT NULL,
  ns text COLLATE "C" NOT NULL,
  approved int NOT NULL,
  machine int NOT NULL,
  missing int NOT NULL,
  stale int NOT NULL,
  pending int NOT NULL,
  PRIMARY KEY (org_id, locale, ns)
);
CALL wall_off('l10n_counts');
GRANT SELECT ON l10n_counts TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON l10n_counts TO atrium_system;

-- A locale's revision grows with every change of what it serves; a process that holds another one reads the locale again.
CREATE TABLE l10n_locales (
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  locale text COLLATE "C" NOT NULL,
  revision bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (org_id, locale)
);
CALL wall_off('l10n_locales');
GRANT SELECT ON l10n_locales TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON l10n_locales TO atrium_system;

-- Which catalogs on disk were imported last, and the import that runs.
CREATE TABLE l10n_imports (
  org_id uuid PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  fingerprint text,
  job_id uuid,
  imported_at timestamptz
);
CALL wall_off('l10n_imports');
GRANT SELECT, INSERT, UPDATE ON l10n_imports TO atrium_app;
GRANT SELECT ON l10n_imports TO atrium_system;

-- What follows from a statement on messages. Writers lock messages first, then counts in their order, then locales, so that none waits
-- in a circle.
CREATE FUNCTION follow_l10n() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  changed text := CASE TG_OP
    WHEN 'INSERT' THEN 'SELECT 1 AS n, org_id, locale, ns, status, pending_text, retired_at FROM added'
    WHEN 'DELETE' THEN 'SELECT -1, org_id, locale, ns, status, pending_text, retired_at FROM removed'
    ELSE 'SELECT 1 AS n, org_id, locale, ns, status, pending_text, retired_at FROM added'
         ' UNION ALL SELECT -1, org_id, locale, ns, status, pending_text, retired_at FROM removed' END;
BEGIN
  EXECUTE 'INSERT INTO l10n_counts AS c (org_id, locale, ns, approved, machine, missing, stale, pending)
    SELECT * FROM (
      SELECT org_id, locale, ns, coalesce(sum(n) FILTER (WHERE status = ''approved''), 0)::int AS approved,
             coalesce(sum(n) FILTER (WHERE status = ''machine''), 0)::int AS machine,
             coalesce(sum(n) FILTER (WHERE status = ''missing''), 0)::int AS missing,
             coalesce(sum(n) FILTER (WHERE status = ''stale''), 0)::int AS stale,
             coalesce(sum(n) FILTER (WHERE pending_text IS NOT NULL), 0)::int AS pending
        FROM (' || changed || ') AS x (n, org_id, locale, ns, status, pending_text, retired_at)
       WHERE retired_at IS NULL GROUP BY org_id, locale, ns
    ) AS d WHERE (approved, machine, missing, stale, pending) <> (0, 0, 0, 0, 0) ORDER BY org_id, locale, ns
    ON CONFLICT (org_id, locale, ns) DO UPDATE
      SET approved = c.approved + excluded.approved, machine = c.machine + excluded.machine, missing = c.missing + excluded.missing,
          stale = c.stale + excluded.stale, pending = c.pending + excluded.pending';
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO l10n_history (org_id, message_id, locale, key, text, was, text_by, text_at, replaced_by)
    SELECT o.org_id, o.id, o.locale, o.key, o.text, o.status, o.text_by, o.text_at, n.changed_by
      FROM removed o JOIN added n USING (id) WHERE o.text IS NOT NULL AND o.text IS DISTINCT FROM n.text
    UNION ALL
    SELECT o.org_id, o.id, o.locale, o.key, o.pending_text, 'pending', o.pending_by, o.pending_at, n.changed_by
      FROM removed o JOIN added n USING (id)
     WHERE o.pending_text IS NOT NULL AND o.pending_text IS DISTINCT FROM n.pending_text AND o.pending_text IS DISTINCT FROM n.text;
    INSERT INTO l10n_locales AS l (org_id, locale)
    SELECT DISTINCT n.org_id, n.locale FROM removed o JOIN added n USING (id)
     WHERE (o.text, o.status, o.fits, o.retired_at IS NULL) IS DISTINCT FROM (n.text, n.status, n.fits, n.retired_at IS NULL)
     ORDER BY 1, 2
    ON CONFLICT (org_id, locale) DO UPDATE SET revision = l.revision + 1;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO l10n_locales AS l (org_id, locale) SELECT DISTINCT org_id, locale FROM added ORDER BY 1, 2
    ON CONFLICT (org_id, locale) DO UPDATE SET revision = l.revision + 1;
    UPDATE instance i SET locales = ARRAY(SELECT DISTINCT locale FROM l10n_locales l WHERE l.org_id = i.org_id ORDER BY locale)
     WHERE EXISTS (SELECT FROM added a WHERE a.org_id = i.org_id AND a.locale <> ALL (i.locales));
  ELSE
    INSERT INTO l10n_history (org_id, message_id, locale, key, text, was, text_by, text_at)
    SELECT org_id, id, locale, key, text, status, text_by, text_at FROM removed WHERE text IS NOT NULL
    UNION ALL
    SELECT org_id, id, locale, key, pending_text, 'pending', pending_by, pending_at FROM removed WHERE pending_text IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION follow_l10n() FROM PUBLIC;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION follow_l10n() OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
CREATE TRIGGER l10n_inserted AFTER INSERT ON l10n_messages
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION follow_l10n();
CREATE TRIGGER l10n_updated AFTER UPDATE ON l10n_messages
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION follow_l10n();
CREATE TRIGGER l10n_deleted AFTER DELETE ON l10n_messages
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION follow_l10n();
