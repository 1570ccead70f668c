-- owner: identity
-- A request that writes looks its credential up and holds it in one call, inside its transaction, instead of looking twice.

-- The number of the newest transaction that ended credentials or stopped somebody's writing. A lookup whose snapshot holds
-- every transaction up to this one has missed nothing. A sequence, because reading one costs next to nothing.
CREATE SEQUENCE credential_endings AS bigint;
GRANT SELECT, UPDATE ON SEQUENCE credential_endings TO atrium_system;

CREATE FUNCTION note_credential_ending() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  mine bigint := pg_current_xact_id()::text::bigint;
BEGIN
  -- Forwards only; from far ahead, where only a dump of another server can have left it, back to the numbers of this one.
  -- One statement from the lock to its release: nothing can stop it in between and leave the lock behind.
  PERFORM pg_advisory_lock(hashtext('atrium credential endings')),
          setval('public.credential_endings', CASE
            WHEN pg_sequence_last_value('public.credential_endings') BETWEEN mine AND mine + 10000000
            THEN pg_sequence_last_value('public.credential_endings') ELSE mine END),
          pg_advisory_unlock(hashtext('atrium credential endings'));
END $$;

CREATE OR REPLACE FUNCTION lock_people(person uuid, ending uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
  FOR one IN SELECT DISTINCT p FROM unnest(ending || person) p WHERE p IS NOT NULL ORDER BY p LOOP
    IF one = ANY (ending) THEN
      PERFORM pg_advisory_xact_lock(uuid_hash_extended(one, 0));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(one, 0));
    END IF;
  END LOOP;
  -- Under the locks: whoever gets one of them later reads this number.
  IF cardinality(ending) > 0 THEN
    PERFORM note_credential_ending();
  END IF;
END $$;

CREATE FUNCTION on_suspension() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_credential_ending();
  RETURN NULL;
END $$;
CREATE TRIGGER suspension AFTER UPDATE OF suspended_at ON orgs
  FOR EACH ROW WHEN (OLD.suspended_at IS DISTINCT FROM NEW.suspended_at) EXECUTE FUNCTION on_suspension();
CREATE TRIGGER suspension AFTER UPDATE OF suspended_at ON instance
  FOR EACH ROW WHEN (OLD.suspended_at IS DISTINCT FROM NEW.suspended_at) EXECUTE FUNCTION on_suspension();

-- As before for who reads (`writing` is null). For who writes, the transaction is opened to the person's company and shares
-- the lock that an end of their credentials takes alone. When something ended that the lookup may not have seen, the
-- credential is looked at once more, under the lock.
DROP FUNCTION find_principal(bytea);
CREATE FUNCTION find_principal(presented bytea, writing boolean) RETURNS TABLE (
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
         CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
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
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(user_id, 0)), set_config('app.org_id', org_id::text, true);
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
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION note_credential_ending() OWNER TO atrium_system;
ALTER FUNCTION find_principal(bytea, boolean) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION note_credential_ending(), on_suspension() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_credential_ending() TO atrium_app, atrium_system;
REVOKE ALL ON FUNCTION find_principal(bytea, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_principal(bytea, boolean) TO atrium_app;
