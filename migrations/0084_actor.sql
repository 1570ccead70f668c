-- owner: identity
-- The lookup says when a company is on its way to another instance. A transaction that writes shares its company's lock, as in
-- hold_token, and knows who acts in it, so that what follows its rows can say so.
CREATE OR REPLACE FUNCTION find_principal(presented bytea, writing boolean) RETURNS TABLE (
  credential_id uuid, kind text, user_id uuid, team_id uuid, org_id uuid, username text, role text, org_role text,
  operator boolean, scope text[], switches text[], suspended text, fresh boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  touched timestamptz;
  seen bigint;
BEGIN
  SELECT t.id, t.kind, u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator, t.scope,
         ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
         CASE WHEN o.moving_at IS NOT NULL THEN 'moving'
              WHEN o.suspended_at IS NOT NULL THEN 'org'
              WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END,
         t.signed_in_at > now() - interval '10 minutes', t.last_used_at, pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    INTO credential_id, kind, user_id, team_id, org_id, username, role, org_role, operator, scope, switches, suspended,
         fresh, touched, seen
    FROM tokens t JOIN users u ON u.id = t.user_id JOIN orgs o ON o.id = u.org_id
   WHERE t.digest = presented
     AND (t.expires_at IS NULL OR t.expires_at > now())
     AND (t.idle_limit IS NULL OR coalesce(t.last_used_at, t.created_at) > now() - t.idle_limit);
  IF NOT FOUND THEN RETURN; END IF;
  IF writing IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(user_id, 0)),
            pg_advisory_xact_lock_shared(uuid_hash_extended(org_id, 1)), set_config('app.org_id', org_id::text, true),
            set_config('app.user_id', user_id::text, true);
    IF pg_sequence_last_value('public.credential_endings') >= seen THEN
      PERFORM hold_token(user_id, credential_id, writing, NULL);
    END IF;
  END IF;
  IF touched IS NULL OR touched < now() - interval '1 minute' THEN
    -- Once a minute is exact enough for "last used" and for the idle limit, and keeps reading free of writes.
    UPDATE tokens SET last_used_at = now()
     WHERE id = (SELECT id FROM tokens WHERE digest = presented FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN NEXT;
END $$;
