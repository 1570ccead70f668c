-- owner: s3
-- The lookup says when a company is on its way to another instance.
CREATE OR REPLACE FUNCTION find_s3_principal(presented text) RETURNS TABLE (
  credential_id uuid, user_id uuid, team_id uuid, org_id uuid, username text, role text, org_role text, operator boolean,
  scope text[], prefix text, switches text[], suspended text, secret_sealed bytea
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE touched timestamptz;
BEGIN
  SELECT k.id, u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator, k.scope, k.prefix,
         ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
         CASE WHEN o.moving_at IS NOT NULL THEN 'moving'
              WHEN o.suspended_at IS NOT NULL THEN 'org'
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

-- As for tokens: a writing transaction shares its company's lock.
CREATE OR REPLACE FUNCTION hold_s3_key(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE suspended text;
BEGIN
  IF ending IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(person, 0));
  ELSE
    PERFORM lock_people(person, ending);
  END IF;
  PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(u.org_id, 1)) FROM users u WHERE u.id = person;
  SELECT CASE WHEN o.moving_at IS NOT NULL THEN 'AT404'
              WHEN o.suspended_at IS NOT NULL OR EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) THEN 'AT402'
              END INTO suspended
    FROM s3_keys k JOIN orgs o ON o.id = k.org_id WHERE k.id = credential AND k.user_id = person;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this access key has ended' USING ERRCODE = 'AT401';
  ELSIF writing AND suspended IS NOT NULL THEN
    RAISE EXCEPTION 'this company is suspended' USING ERRCODE = suspended;
  END IF;
END $$;
