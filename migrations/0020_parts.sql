-- owner: repository
-- What a gateway gives back together with the bytes (headers, tags, checksums, parts); the repository never looks inside.
ALTER TABLE object_versions ADD attributes jsonb NOT NULL DEFAULT '{}';
GRANT UPDATE (attributes) ON object_versions TO atrium_app;

-- Objects that arrive in parts. A completed one stays for a while with its version, so that asking twice is answered twice.
CREATE TABLE multipart_uploads (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 1024),
  draft jsonb NOT NULL,
  version_id uuid,
  etag text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id),
  FOREIGN KEY (org_id, owner_id) REFERENCES users (org_id, id)
);
CREATE INDEX multipart_uploads_by_key ON multipart_uploads (team_id, key, id) WHERE version_id IS NULL;
CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
CALL wall_off('multipart_uploads');
GRANT SELECT, INSERT, UPDATE, DELETE ON multipart_uploads TO atrium_app;
GRANT SELECT (id, org_id, created_at) ON multipart_uploads TO atrium_system;

CREATE TABLE multipart_parts (
  org_id uuid NOT NULL,
  upload_id uuid NOT NULL,
  number int NOT NULL CHECK (number BETWEEN 1 AND 10000),
  sha256 bytea NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  etag text NOT NULL,
  checksum text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (upload_id, number),
  FOREIGN KEY (org_id, upload_id) REFERENCES multipart_uploads (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, sha256) REFERENCES blobs (org_id, sha256)
);
CREATE INDEX multipart_parts_of_blob ON multipart_parts (org_id, sha256);
CALL wall_off('multipart_parts');
GRANT SELECT, INSERT, UPDATE, DELETE ON multipart_parts TO atrium_app;
