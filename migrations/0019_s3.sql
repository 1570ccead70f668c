-- owner: s3
-- Access keys of people. The secret is needed in clear to check a signature, so it is sealed and not hashed.
CREATE TABLE s3_keys (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  access_key_id text NOT NULL UNIQUE,
  secret_sealed bytea NOT NULL,
  name text NOT NULL,
  scope text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE INDEX s3_keys_of_user ON s3_keys (user_id, id);
CALL wall_off('s3_keys');
GRANT SELECT, INSERT, DELETE ON s3_keys TO atrium_app;
GRANT SELECT, UPDATE (last_used_at, secret_sealed) ON s3_keys TO atrium_system;

-- What is said about a bucket: its tags, its CORS rules, and whether a client has turned versioning on, which is on anyway.
-- The team's own bucket is there without a row.
CREATE TABLE s3_buckets (
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  tags jsonb NOT NULL DEFAULT '{}',
  cors text NOT NULL DEFAULT '',
  versioned boolean NOT NULL DEFAULT false,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team_id, name),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id)
);
CALL wall_off('s3_buckets');
GRANT SELECT, INSERT, UPDATE, DELETE ON s3_buckets TO atrium_app;

-- Like find_principal, for the id in a signature: the whole principal, and the sealed secret the signature is checked with.
CREATE FUNCTION find_s3_principal(presented text) RETURNS TABLE (
  credential_id uuid, user_id uuid, team_id uuid, org_id uuid, username text, role text, org_role text, operator boolean,
  scope text[], switches text[], suspended text, secret_sealed bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE touched timestamptz;
BEGIN
  SELECT k.id, u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator, k.scope,
         ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
         CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
              WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END,
         k.secret_sealed, k.last_used_at
    INTO credential_id, user_id, team_id, org_id, username, role, org_role, operator, scope, switches, suspended,
         secret_sealed, touched
    FROM s3_keys k JOIN users u ON u.id = k.user_id JOIN orgs o ON o.id = u.org_id
   WHERE k.access_key_id = presented;
  IF NOT FOUND THEN RETURN; END IF;
  IF touched IS NULL OR touched < now() - interval '1 minute' THEN
    UPDATE s3_keys SET last_used_at = now()
     WHERE id = (SELECT id FROM s3_keys WHERE access_key_id = presented FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN NEXT;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION find_s3_principal(text) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION find_s3_principal(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_s3_principal(text) TO atrium_app;
