-- owner: repository
-- A bucket's listing tells an object's size, tag and time. They repeat the current version's, written in the statement that makes
-- it the current one, so that a page of a thousand reads one table in its order and looks nothing up.
ALTER TABLE objects
  ADD COLUMN size bigint NOT NULL DEFAULT 0,
  ADD COLUMN etag text NOT NULL DEFAULT '',
  ADD COLUMN written_at timestamptz NOT NULL DEFAULT now();
UPDATE objects o SET size = v.size, etag = v.etag, written_at = v.created_at
  FROM object_versions v WHERE v.id = o.version_id;

-- With the company behind, this index is no longer mistaken for a way to one version: of a table without statistics the planner
-- expects one row a company, and then reads all of them for each row of a page.
DROP INDEX object_versions_of_blob;
CREATE INDEX object_versions_of_blob ON object_versions (sha256, org_id);
