-- owner: identity
-- How a session came to be and from where, for whoever looks at the list of their own. A first session is opened for
-- somebody else, so it says nothing about a device.
ALTER TABLE tokens
  ADD user_agent text NOT NULL DEFAULT '',
  ADD address text NOT NULL DEFAULT '',
  ADD method text NOT NULL DEFAULT 'password' CHECK (method IN ('password', 'passkey', 'sso', 'first'));
UPDATE tokens SET method = 'first' WHERE kind = 'first';

-- A transaction that writes for somebody shares a lock on that person until it ends; one that ends credentials holds the
-- locks of everybody concerned alone. All are taken at the transaction's beginning and in one order, so that nobody waits
-- in a circle: whatever was written with a credential is committed before its end is acknowledged, or refused.
CREATE FUNCTION lock_people(person uuid, ending uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
  FOR one IN SELECT DISTINCT p FROM unnest(ending || person) p WHERE p IS NOT NULL ORDER BY p LOOP
    IF one = ANY (ending) THEN
      PERFORM pg_advisory_xact_lock(uuid_hash_extended(one, 0));
    ELSE
      PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(one, 0));
    END IF;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION lock_people(uuid, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lock_people(uuid, uuid[]) TO atrium_app, atrium_system;

-- Refuses the transaction whose credential has ended meanwhile, and with `writing` also the one whose company was suspended.
-- VOLATILE, so that it looks again after it has waited for the lock.
CREATE FUNCTION hold_token(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE suspended boolean;
BEGIN
  IF ending IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(person, 0));
  ELSE
    PERFORM lock_people(person, ending);
  END IF;
  SELECT o.suspended_at IS NOT NULL OR EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) INTO suspended
    FROM tokens t JOIN orgs o ON o.id = t.org_id
   WHERE t.id = credential AND t.user_id = person AND (t.expires_at IS NULL OR t.expires_at > now());
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this credential has ended' USING ERRCODE = 'AT401';
  ELSIF writing AND suspended THEN
    RAISE EXCEPTION 'this company is suspended' USING ERRCODE = 'AT402';
  END IF;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION hold_token(uuid, uuid, boolean, uuid[]) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION hold_token(uuid, uuid, boolean, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_token(uuid, uuid, boolean, uuid[]) TO atrium_app, atrium_system;
