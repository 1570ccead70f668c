-- owner: s3
-- A key pair may be good only for keys below a prefix of the team's; the lookup tells it with the rest of the principal.
ALTER TABLE s3_keys ADD COLUMN prefix text COLLATE "C";

DROP FUNCTION find_s3_principal(text);
CREATE FUNCTION find_s3_principal(presented text) RETURNS TABLE (
  credential_id uuid, user_id uuid, team_id uuid, org_id uuid, username text, role text, org_role text, operator boolean,
  scope text[], prefix text, switches text[], suspended text, secret_sealed bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE touched timestamptz;
BEGIN
  SELECT k.id, u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator, k.scope, k.prefix,
         ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
         CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
              WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END,
         k.secret_sealed, k.last_used_at
    INTO credential_id, user_id, team_id, org_id, username, role, org_role, operator, scope, prefix, switches, suspended,
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
