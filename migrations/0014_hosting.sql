-- owner: hosting
ALTER TABLE instance ADD suspended_at timestamptz;

CREATE TABLE activations (
  digest bytea PRIMARY KEY,
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CALL wall_off('activations');
GRANT SELECT ON activations TO atrium_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON activations TO atrium_system;

-- As before, and `suspended` now says which wall stopped the writing: the company's, or the whole tenant's.
DROP FUNCTION find_principal(bytea);
CREATE FUNCTION find_principal(presented bytea) RETURNS TABLE (
  credential_id uuid, kind text, user_id uuid, team_id uuid, org_id uuid, username text, role text, org_role text,
  operator boolean, scope text[], switches text[], suspended text, fresh boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE touched timestamptz;
BEGIN
  SELECT t.id, t.kind, u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator, t.scope,
         ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
         CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
              WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END,
         t.signed_in_at > now() - interval '10 minutes', t.last_used_at
    INTO credential_id, kind, user_id, team_id, org_id, username, role, org_role, operator, scope, switches, suspended,
         fresh, touched
    FROM tokens t JOIN users u ON u.id = t.user_id JOIN orgs o ON o.id = u.org_id
   WHERE t.digest = presented
     AND (t.expires_at IS NULL OR t.expires_at > now())
     AND (t.idle_limit IS NULL OR coalesce(t.last_used_at, t.created_at) > now() - t.idle_limit);
  IF NOT FOUND THEN RETURN; END IF;
  IF touched IS NULL OR touched < now() - interval '1 minute' THEN
    -- Once a minute is exact enough for "last used" and for the idle limit, and keeps reading free of writes.
    UPDATE tokens SET last_used_at = now()
     WHERE id = (SELECT id FROM tokens WHERE digest = presented FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN NEXT;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION find_principal(bytea) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION find_principal(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_principal(bytea) TO atrium_app;
