-- owner: repository
-- Since when a digest may have lost its last version: bytes stay in the store for some hours after that, so that a copy of the
-- store which began after a copy of the rows has everything the rows name. Hints of before count from now.
ALTER TABLE blob_releases ADD COLUMN noted_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX blob_releases_by_age ON blob_releases (noted_at, id);
CREATE INDEX blob_releases_of_blob ON blob_releases (org_id, sha256, noted_at);
