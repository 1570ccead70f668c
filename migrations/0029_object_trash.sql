-- owner: repository
-- A deleted object waits in the trash with its id, grants and versions, and its key is free. Every index of a listing holds only
-- what is not there; the grants repeat `trashed_at` for theirs.
ALTER TABLE objects
  ADD COLUMN trashed_at timestamptz,
  ADD COLUMN trashed_by uuid,
  ADD CHECK ((trashed_at IS NULL) = (trashed_by IS NULL));
ALTER TABLE objects DROP CONSTRAINT objects_team_id_key_key;
CREATE UNIQUE INDEX objects_at_key ON objects (team_id, key) WHERE trashed_at IS NULL;
DROP INDEX objects_of_owner, objects_of_team, objects_of_org, documents_of_owner, documents_of_team, documents_of_org;
CREATE INDEX objects_of_owner ON objects (owner_id, key, id) WHERE NOT deleted AND trashed_at IS NULL;
CREATE INDEX objects_of_team ON objects (team_id, key, id) WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL;
-- The condition on the key is always true: migration 0016 says what it is for.
CREATE INDEX objects_of_org ON objects (org_id, key, id)
  WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL AND octet_length(key) > 0;
CREATE INDEX documents_of_owner ON objects (owner_id, key, id) WHERE document AND NOT deleted AND trashed_at IS NULL;
CREATE INDEX documents_of_team ON objects (team_id, key, id)
  WHERE document AND visibility = 'team' AND NOT deleted AND trashed_at IS NULL;
CREATE INDEX documents_of_org ON objects (org_id, key, id)
  WHERE document AND visibility = 'team' AND NOT deleted AND trashed_at IS NULL AND octet_length(key) > 0;
CREATE INDEX trashed_objects_of_owner ON objects (org_id, owner_id, trashed_at DESC, id DESC) WHERE trashed_at IS NOT NULL;
CREATE INDEX trashed_objects_of_team ON objects (org_id, team_id, trashed_at DESC, id DESC)
  WHERE visibility = 'team' AND trashed_at IS NOT NULL;
CREATE INDEX trashed_objects_by_deleter ON objects (org_id, trashed_by, trashed_at, id) WHERE trashed_at IS NOT NULL;
CREATE INDEX trashed_objects_by_age ON objects (trashed_at, id) WHERE trashed_at IS NOT NULL;
GRANT SELECT (id, org_id, trashed_at) ON objects TO atrium_system;

ALTER TABLE object_grants ADD COLUMN trashed_at timestamptz;
DROP INDEX object_grants_of_principal;
CREATE INDEX object_grants_of_principal ON object_grants (principal_id, key, object_id) WHERE trashed_at IS NULL;
CREATE INDEX trashed_object_grants_of_principal ON object_grants (principal_id, trashed_at DESC, object_id DESC)
  WHERE capability = 'manage' AND trashed_at IS NOT NULL;
