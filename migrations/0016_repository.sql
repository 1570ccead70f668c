-- owner: repository
-- Blobs: bytes in the blob store, by company and SHA-256. The row is the lock: whoever refers to the bytes holds it shared,
-- whoever releases them holds it alone, and the store is touched only under it.
CREATE TABLE blobs (
  org_id uuid NOT NULL REFERENCES orgs,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  size bigint NOT NULL CHECK (size >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, sha256)
);
CALL wall_off('blobs');
-- UPDATE is needed to lock a row; nothing ever changes one.
GRANT SELECT, INSERT, UPDATE, DELETE ON blobs TO atrium_app;

-- Digests that may have lost their last version: hints for the release, which looks again. Found by place, not by searching
-- a hundred million blobs.
CREATE TABLE blob_releases (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  sha256 bytea NOT NULL
);
CALL wall_off('blob_releases');
GRANT SELECT, INSERT, DELETE ON blob_releases TO atrium_app;
GRANT SELECT ON blob_releases TO atrium_system;

-- Keys sort by their bytes, everywhere and on every machine. `deleted` and `document` repeat what the current version says,
-- so that the indexes below hold exactly what their listing shows.
CREATE TABLE objects (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 1024),
  visibility text NOT NULL CHECK (visibility IN ('private', 'team', 'shared')),
  version_id uuid NOT NULL,
  number int NOT NULL DEFAULT 1,
  revision int NOT NULL DEFAULT 1,
  deleted boolean NOT NULL DEFAULT false,
  document boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  UNIQUE (team_id, key),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id),
  FOREIGN KEY (org_id, owner_id) REFERENCES users (org_id, id)
);
-- One index per way an object can be readable, each in listing order: no listing walks past rows of other people.
CREATE INDEX objects_of_owner ON objects (owner_id, key, id) WHERE NOT deleted;
CREATE INDEX objects_of_team ON objects (team_id, key, id) WHERE visibility = 'team' AND NOT deleted;
-- Every key has bytes; only the company-wide listing says so, and so only that one is ever planned over these indexes. Without it
-- the planner takes one team's listing for as good as the company's, and walks past a million rows of other teams.
CREATE INDEX objects_of_org ON objects (org_id, key, id)
  WHERE visibility = 'team' AND NOT deleted AND octet_length(key) > 0;
CREATE INDEX documents_of_owner ON objects (owner_id, key, id) WHERE document AND NOT deleted;
CREATE INDEX documents_of_team ON objects (team_id, key, id) WHERE document AND visibility = 'team' AND NOT deleted;
CREATE INDEX documents_of_org ON objects (org_id, key, id)
  WHERE document AND visibility = 'team' AND NOT deleted AND octet_length(key) > 0;
CALL wall_off('objects');
GRANT SELECT, INSERT, UPDATE, DELETE ON objects TO atrium_app;

CREATE TABLE object_versions (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  object_id uuid NOT NULL,
  number int NOT NULL,
  sha256 bytea,
  size bigint NOT NULL CHECK (size >= 0),
  etag text NOT NULL,
  content_type text NOT NULL,
  filename text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  delete_marker boolean NOT NULL DEFAULT false,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  UNIQUE (object_id, number),
  CHECK (delete_marker = (sha256 IS NULL)),
  FOREIGN KEY (org_id, object_id) REFERENCES objects (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, sha256) REFERENCES blobs (org_id, sha256)
);
CREATE INDEX object_versions_of_blob ON object_versions (org_id, sha256);
CALL wall_off('object_versions');
GRANT SELECT, INSERT, DELETE ON object_versions TO atrium_app;

-- `key` and `owner_id` repeat the object's, which never change: a listing of what was shared reads this table in order.
CREATE TABLE object_grants (
  org_id uuid NOT NULL,
  object_id uuid NOT NULL,
  principal_type text NOT NULL CHECK (principal_type IN ('user', 'team', 'org')),
  principal_id uuid NOT NULL,
  capability text NOT NULL CHECK (capability IN ('view', 'edit', 'manage')),
  expires_at timestamptz,
  granted_by uuid NOT NULL,
  owner_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (object_id, principal_id),
  FOREIGN KEY (org_id, object_id) REFERENCES objects (org_id, id) ON DELETE CASCADE
);
CREATE INDEX object_grants_of_principal ON object_grants (principal_id, key, object_id);
CREATE INDEX object_grants_by_expiry ON object_grants (expires_at) WHERE expires_at IS NOT NULL;
CALL wall_off('object_grants');
GRANT SELECT, INSERT, UPDATE, DELETE ON object_grants TO atrium_app;
GRANT SELECT (expires_at), DELETE ON object_grants TO atrium_system;

-- The text of a version, once a worker has read it. A running one that is past `due_at` lost its worker.
CREATE TABLE object_texts (
  version_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  object_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
  text text NOT NULL DEFAULT '',
  truncated boolean NOT NULL DEFAULT false,
  problem text,
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, version_id) REFERENCES object_versions (org_id, id) ON DELETE CASCADE
);
CREATE INDEX object_texts_due ON object_texts (due_at) WHERE state IN ('waiting', 'running');
CALL wall_off('object_texts');
GRANT SELECT, INSERT, UPDATE, DELETE ON object_texts TO atrium_app;
GRANT SELECT (version_id, org_id, state, due_at) ON object_texts TO atrium_system;

-- What a version was made from. The source has no foreign key: it may be gone while what was made of it stays.
CREATE TABLE derivations (
  org_id uuid NOT NULL,
  version_id uuid NOT NULL,
  object_id uuid NOT NULL,
  source_id uuid NOT NULL,
  source_version_id uuid NOT NULL,
  run_id uuid,
  step text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (version_id, source_version_id),
  FOREIGN KEY (org_id, version_id) REFERENCES object_versions (org_id, id) ON DELETE CASCADE
);
CREATE INDEX derivations_of_object ON derivations (object_id, created_at);
CREATE INDEX derivations_of_source ON derivations (source_id, created_at);
CALL wall_off('derivations');
GRANT SELECT, INSERT ON derivations TO atrium_app;
