-- owner: notes
-- Notes and the texts they had count as storage, also in the trash. A note's versions go with it by their foreign key, when the note can
-- no longer be asked whose they were: so each says which team's it is.
ALTER TABLE notes ADD COLUMN kept_bytes bigint;
ALTER TABLE note_versions ADD COLUMN kept_bytes bigint, ADD COLUMN team_id uuid;
GRANT UPDATE (kept_bytes) ON note_versions TO atrium_app;

CREATE FUNCTION size_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.kept_bytes := octet_length(NEW.title) + octet_length(NEW.body);
  RETURN NEW;
END $$;
CREATE FUNCTION size_note_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.kept_bytes := octet_length(NEW.title) + octet_length(NEW.body);
  IF NEW.team_id IS NULL THEN
    SELECT n.team_id INTO NEW.team_id FROM notes n WHERE n.org_id = NEW.org_id AND n.id = NEW.note_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER kept_size BEFORE INSERT OR UPDATE OF title, body, kept_bytes ON notes FOR EACH ROW EXECUTE FUNCTION size_note();
CREATE TRIGGER kept_size BEFORE INSERT OR UPDATE OF title, body, kept_bytes ON note_versions
  FOR EACH ROW EXECUTE FUNCTION size_note_version();
CREATE TRIGGER kept_more AFTER INSERT ON notes REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
CREATE TRIGGER kept_other AFTER UPDATE ON notes REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
CREATE TRIGGER kept_less AFTER DELETE ON notes REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
CREATE TRIGGER kept_more AFTER INSERT ON note_versions REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
CREATE TRIGGER kept_other AFTER UPDATE ON note_versions REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
CREATE TRIGGER kept_less AFTER DELETE ON note_versions REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('notes');
REVOKE ALL ON FUNCTION size_note(), size_note_version() FROM PUBLIC;
-- A row from before is counted by whatever changes it first, so that none gets past those who count.
CREATE TRIGGER kept_first BEFORE UPDATE ON notes FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_note();
CREATE TRIGGER kept_first BEFORE UPDATE ON note_versions FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_note_version();
