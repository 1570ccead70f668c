-- owner: notes
-- What a person called a version. The one that stands has its name in the note, as it has its text.
ALTER TABLE notes ADD COLUMN version_name text;
ALTER TABLE note_versions ADD COLUMN name text;
GRANT UPDATE (name) ON note_versions TO atrium_app;
