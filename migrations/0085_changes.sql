-- owner: changes
-- What changed, and for whom: one row for every principal (a person, a team, the company) that could read the thing before or can
-- read it now, written in the transaction that it reports. `seq` is one number for all rows of one change. The nil id stands for
-- people who read the whole company; `had` and `has` say whether the principal could read the thing before and can now, so that
-- each reader is told of a change, of having lost the thing, or of nothing.
-- Readers go by (xid, seq) and stop before the oldest transaction that is still open: nothing can appear behind them.
CREATE SEQUENCE change_seq AS bigint;
CREATE TABLE change_rows (
  org_id uuid NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint NOT NULL,
  principal uuid NOT NULL,
  had boolean NOT NULL,
  has boolean NOT NULL,
  kind text NOT NULL CHECK (kind IN ('note', 'document', 'object')),
  thing_id uuid NOT NULL,
  action text NOT NULL
    CHECK (action IN ('created', 'changed', 'moved', 'shared', 'visibility', 'deleted', 'restored', 'gone')),
  version int NOT NULL,
  actor_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, xid, seq, principal)
);
CREATE INDEX change_rows_of_principal ON change_rows (org_id, principal, xid, seq);
-- Ends of shares by their date; whether one was told of is looked up here.
CREATE INDEX change_rows_gone ON change_rows (org_id, thing_id, principal) WHERE action = 'gone';
CREATE INDEX change_rows_by_age ON change_rows USING brin (at);
CALL wall_off('change_rows');
GRANT SELECT, INSERT ON change_rows TO atrium_app;
GRANT USAGE ON SEQUENCE change_seq TO atrium_app;
GRANT SELECT (org_id, xid, seq, at), DELETE ON change_rows TO atrium_system;

-- Who acts in this transaction: named by the lookup of the credential, or right after BEGIN.
CREATE FUNCTION current_actor() RETURNS uuid LANGUAGE sql STABLE AS
$$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$;

-- Who reads a thing besides those it was granted to.
CREATE FUNCTION open_readers(owner_id uuid, team_id uuid, visibility text) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN visibility = 'team' THEN ARRAY[owner_id, team_id, '00000000-0000-0000-0000-000000000000'] ELSE ARRAY[owner_id] END
$$;

CREATE FUNCTION note_readers(note_id uuid, org_id uuid, owner_id uuid, team_id uuid, visibility text) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
  SELECT open_readers($3, $4, $5) || ARRAY(SELECT g.user_id FROM note_grants g WHERE g.org_id = $2 AND g.note_id = $1)
$$;

CREATE FUNCTION object_readers(object_id uuid, org_id uuid, owner_id uuid, team_id uuid, visibility text) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
  SELECT open_readers($3, $4, $5) || ARRAY(
    SELECT g.principal_id FROM object_grants g
     WHERE g.org_id = $2 AND g.object_id = $1 AND (g.expires_at IS NULL OR g.expires_at > now()))
$$;

-- One change, addressed to everybody concerned.
CREATE FUNCTION tell_change(org uuid, told_kind text, id uuid, told_action text, number int, actor uuid, before uuid[], after uuid[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO change_rows (org_id, seq, principal, had, has, kind, thing_id, action, version, actor_id)
  SELECT org, s.seq, p.principal, p.principal = ANY (before), p.principal = ANY (after), told_kind, id, told_action, number, actor
    FROM (SELECT nextval('change_seq') AS seq OFFSET 0) s, (SELECT DISTINCT unnest(before || after) AS principal) p
$$;

CREATE FUNCTION on_note_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, 'note', n.id, 'created', n.version, coalesce(n.updated_by, current_actor()), '{}',
                      open_readers(n.owner_id, n.team_id, n.visibility))
     FROM new_rows n WHERE n.trashed_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION on_note_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, 'note', n.id,
    CASE WHEN n.trashed_at IS NOT NULL THEN 'deleted' WHEN o.trashed_at IS NOT NULL THEN 'restored'
         WHEN n.visibility <> o.visibility THEN 'visibility' WHEN n.owner_id <> o.owner_id THEN 'shared' ELSE 'changed' END,
    n.version,
    CASE WHEN n.trashed_at IS NOT NULL THEN n.trashed_by WHEN n.version <> o.version THEN n.updated_by ELSE current_actor() END,
    CASE WHEN o.trashed_at IS NULL THEN note_readers(n.id, n.org_id, o.owner_id, o.team_id, o.visibility) ELSE '{}' END,
    CASE WHEN n.trashed_at IS NULL THEN note_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility) ELSE '{}' END)
     FROM new_rows n JOIN old_rows o ON o.id = n.id
    WHERE (n.trashed_at IS NULL OR o.trashed_at IS NULL)
      AND (n.version, n.visibility, n.owner_id, n.team_id, n.trashed_at IS NULL)
          <> (o.version, o.visibility, o.owner_id, o.team_id, o.trashed_at IS NULL);
  RETURN NULL;
END $$;

CREATE FUNCTION on_note_granted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, 'note', n.id, 'shared', n.version, coalesce(current_actor(), g.granted_by),
    ARRAY(SELECT r FROM unnest(note_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility)) r
           WHERE r <> ALL (g.people) OR r = ANY (open_readers(n.owner_id, n.team_id, n.visibility))),
    note_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility))
     FROM (SELECT org_id, note_id, array_agg(user_id) AS people, (array_agg(granted_by))[1] AS granted_by FROM new_rows GROUP BY 1, 2) g
     JOIN notes n ON n.org_id = g.org_id AND n.id = g.note_id WHERE n.trashed_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION on_note_regranted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, 'note', n.id, 'shared', n.version, coalesce(current_actor(), g.granted_by), r.readers, r.readers)
     FROM (SELECT w.org_id, w.note_id, (array_agg(w.granted_by))[1] AS granted_by
             FROM new_rows w JOIN old_rows o ON o.user_id = w.user_id AND o.note_id = w.note_id
            WHERE w.permission <> o.permission GROUP BY 1, 2) g
     JOIN notes n ON n.org_id = g.org_id AND n.id = g.note_id
     CROSS JOIN LATERAL (SELECT note_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility) AS readers OFFSET 0) r
    WHERE n.trashed_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION on_note_withdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, 'note', n.id, 'shared', n.version, current_actor(), r.readers || g.people, r.readers)
     FROM (SELECT org_id, note_id, array_agg(user_id) AS people FROM old_rows GROUP BY 1, 2) g
     JOIN notes n ON n.org_id = g.org_id AND n.id = g.note_id
     CROSS JOIN LATERAL (SELECT note_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility) AS readers OFFSET 0) r
    WHERE n.trashed_at IS NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION on_object_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, CASE WHEN n.document THEN 'document' ELSE 'object' END, n.id, 'created', n.number,
                      coalesce(current_actor(), n.owner_id), '{}', open_readers(n.owner_id, n.team_id, n.visibility))
     FROM new_rows n WHERE n.trashed_at IS NULL AND NOT n.deleted;
  RETURN NULL;
END $$;

-- A folder that moves frees its keys first, with names that begin with a control character.
CREATE FUNCTION on_object_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, CASE WHEN n.document THEN 'document' ELSE 'object' END, n.id,
    CASE WHEN n.trashed_at IS NOT NULL OR n.deleted THEN 'deleted' WHEN o.trashed_at IS NOT NULL OR o.deleted THEN 'restored'
         WHEN n.visibility <> o.visibility THEN 'visibility' WHEN n.key <> o.key THEN 'moved'
         WHEN n.owner_id <> o.owner_id THEN 'shared' ELSE 'changed' END,
    n.number, coalesce(CASE WHEN n.trashed_at IS NOT NULL THEN n.trashed_by END, current_actor()),
    CASE WHEN o.trashed_at IS NULL AND NOT o.deleted
         THEN object_readers(n.id, n.org_id, o.owner_id, o.team_id, o.visibility) ELSE '{}' END,
    CASE WHEN n.trashed_at IS NULL AND NOT n.deleted
         THEN object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility) ELSE '{}' END)
     FROM new_rows n JOIN old_rows o ON o.id = n.id
    WHERE left(n.key, 1) <> chr(1)
      AND ((n.trashed_at IS NULL AND NOT n.deleted) OR (o.trashed_at IS NULL AND NOT o.deleted))
      AND (n.version_id, n.visibility, n.key, n.owner_id, n.team_id, n.trashed_at IS NULL, n.deleted)
          <> (o.version_id, o.visibility, o.key, o.owner_id, o.team_id, o.trashed_at IS NULL, o.deleted);
  RETURN NULL;
END $$;

CREATE FUNCTION on_object_granted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, CASE WHEN n.document THEN 'document' ELSE 'object' END, n.id, 'shared', n.number,
    coalesce(current_actor(), g.granted_by),
    ARRAY(SELECT r FROM unnest(object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility)) r
           WHERE r <> ALL (g.people) OR r = ANY (open_readers(n.owner_id, n.team_id, n.visibility))),
    object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility))
     FROM (SELECT org_id, object_id, array_agg(principal_id) AS people, (array_agg(granted_by))[1] AS granted_by
             FROM new_rows GROUP BY 1, 2) g
     JOIN objects n ON n.org_id = g.org_id AND n.id = g.object_id WHERE n.trashed_at IS NULL AND NOT n.deleted;
  RETURN NULL;
END $$;

CREATE FUNCTION on_object_regranted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, CASE WHEN n.document THEN 'document' ELSE 'object' END, n.id, 'shared', n.number,
    coalesce(current_actor(), g.granted_by),
    ARRAY(SELECT r FROM unnest(object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility)) r
           WHERE r <> ALL (g.people) OR r = ANY (open_readers(n.owner_id, n.team_id, n.visibility))) || g.live,
    object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility))
     FROM (SELECT w.org_id, w.object_id, array_agg(w.principal_id) AS people, (array_agg(w.granted_by))[1] AS granted_by,
                  coalesce(array_agg(w.principal_id) FILTER (WHERE o.expires_at IS NULL OR o.expires_at > now()), '{}') AS live
             FROM new_rows w JOIN old_rows o ON o.object_id = w.object_id AND o.principal_id = w.principal_id
            WHERE (w.capability, w.expires_at) IS DISTINCT FROM (o.capability, o.expires_at) GROUP BY 1, 2) g
     JOIN objects n ON n.org_id = g.org_id AND n.id = g.object_id WHERE n.trashed_at IS NULL AND NOT n.deleted;
  RETURN NULL;
END $$;

CREATE FUNCTION on_object_withdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM tell_change(n.org_id, CASE WHEN n.document THEN 'document' ELSE 'object' END, n.id, 'shared', n.number, current_actor(),
                      r.readers || g.people, r.readers)
     FROM (SELECT org_id, object_id, array_agg(principal_id) AS people FROM old_rows
            WHERE expires_at IS NULL OR expires_at > now() GROUP BY 1, 2) g
     JOIN objects n ON n.org_id = g.org_id AND n.id = g.object_id
     CROSS JOIN LATERAL (SELECT object_readers(n.id, n.org_id, n.owner_id, n.team_id, n.visibility) AS readers OFFSET 0) r
    WHERE n.trashed_at IS NULL AND NOT n.deleted;
  RETURN NULL;
END $$;

-- Only what a company's own transaction changes is told: forgetting what ended long ago changes nothing for anybody.
CREATE TRIGGER change_told_of_new AFTER INSERT ON notes REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_note_inserted();
CREATE TRIGGER change_told AFTER UPDATE ON notes REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_note_updated();
CREATE TRIGGER change_told_of_new AFTER INSERT ON note_grants REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_note_granted();
CREATE TRIGGER change_told AFTER UPDATE ON note_grants REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_note_regranted();
CREATE TRIGGER change_told_of_end AFTER DELETE ON note_grants REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_note_withdrawn();
CREATE TRIGGER change_told_of_new AFTER INSERT ON objects REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_object_inserted();
CREATE TRIGGER change_told AFTER UPDATE ON objects REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_object_updated();
CREATE TRIGGER change_told_of_new AFTER INSERT ON object_grants REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_object_granted();
CREATE TRIGGER change_told AFTER UPDATE ON object_grants REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_object_regranted();
CREATE TRIGGER change_told_of_end AFTER DELETE ON object_grants REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT WHEN (current_user = 'atrium_app') EXECUTE FUNCTION on_object_withdrawn();
REVOKE ALL ON FUNCTION on_note_inserted(), on_note_updated(), on_note_granted(), on_note_regranted(), on_note_withdrawn(),
  on_object_inserted(), on_object_updated(), on_object_granted(), on_object_regranted(), on_object_withdrawn() FROM PUBLIC;
