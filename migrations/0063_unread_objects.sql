-- owner: repository
-- Objects whose current version has text that nothing has read or will read by itself: it was written while texts were not read, or it
-- became the current one again. A listing of them reads these rows and no others of the team. What is here is looked at once more when
-- it is listed, because a text can be awaited at the moment in which its version becomes the current one. What was written before is
-- noted by a later migration, a few objects at a time.
CREATE TABLE unread_objects (
  object_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  version_id uuid NOT NULL,
  written_at timestamptz NOT NULL,
  FOREIGN KEY (org_id, object_id) REFERENCES objects (org_id, id) ON DELETE CASCADE
);
CREATE INDEX unread_objects_by_age ON unread_objects (team_id, written_at, object_id);
CALL wall_off('unread_objects');
GRANT SELECT, INSERT, UPDATE, DELETE ON unread_objects TO atrium_app;

-- Whether a version has text that can be read: what the readers of texts take. A type that is new there is new here, in a migration that
-- also looks at the objects of that type.
CREATE FUNCTION has_text(content_type text, filename text, size bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT size > 0 AND (
    c.type = ANY (ARRAY[
      'application/pdf', 'application/json', 'application/xhtml+xml', 'message/rfc822', 'application/vnd.ms-excel',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.oasis.opendocument.spreadsheet'])
    OR starts_with(c.type, 'text/')
    OR (c.type = ANY (ARRAY['application/octet-stream', 'binary/octet-stream', 'application/zip'])
        AND lower(substring(filename FROM '[^.]*$')) = ANY (ARRAY[
          'pdf', 'docx', 'pptx', 'xlsx', 'xls', 'ods', 'html', 'htm', 'eml', 'md', 'markdown', 'csv', 'tsv', 'txt', 'json'])))
    FROM (SELECT lower(trim(split_part(content_type, ';', 1))) AS type) c
$$;

-- At the commit: by then the text of a new version is awaited in the same transaction, and nothing is written here.
CREATE FUNCTION object_text_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO unread_objects (object_id, org_id, team_id, version_id, written_at)
    SELECT o.id, o.org_id, o.team_id, v.id, o.written_at
      FROM objects o JOIN object_versions v ON v.org_id = o.org_id AND v.id = o.version_id
     WHERE o.org_id = NEW.org_id AND o.id = NEW.id AND NOT o.deleted AND has_text(v.content_type, v.filename, v.size)
       AND NOT EXISTS (SELECT FROM object_texts t WHERE t.org_id = NEW.org_id AND t.version_id = v.id)
  ON CONFLICT (object_id) DO UPDATE SET version_id = EXCLUDED.version_id, written_at = EXCLUDED.written_at;
  IF NOT FOUND AND TG_OP = 'UPDATE' THEN
    DELETE FROM unread_objects WHERE org_id = NEW.org_id AND object_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER object_text_follows AFTER INSERT OR UPDATE OF version_id ON objects
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION object_text_follows();
