-- owner: identity
-- A writing transaction shares a lock on its company, which `atrium company export` takes alone to mark the company as moving:
-- what was under way is over before, and what comes later sees the mark. Under the lock it looks whether the company moves.
CREATE OR REPLACE FUNCTION hold_token(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
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
              WHEN o.suspended_at IS NOT NULL THEN 'AT402'
              WHEN EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) THEN 'AT403' END INTO suspended
    FROM tokens t JOIN orgs o ON o.id = t.org_id
   WHERE t.id = credential AND t.user_id = person AND (t.expires_at IS NULL OR t.expires_at > now());
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this credential has ended' USING ERRCODE = 'AT401';
  ELSIF writing AND suspended IS NOT NULL THEN
    RAISE EXCEPTION 'writing is suspended' USING ERRCODE = suspended;
  END IF;
END $$;

-- A job has no credential. While its company moves, its claim was taken back: what it still writes would be lost.
CREATE OR REPLACE FUNCTION hold_person(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE moving boolean;
BEGIN
  PERFORM lock_people(person, ending);
  PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(u.org_id, 1)) FROM users u WHERE u.id = person;
  SELECT o.moving_at IS NOT NULL INTO moving
    FROM users u JOIN orgs o ON o.id = u.org_id WHERE u.id = person AND u.left_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this person has left' USING ERRCODE = 'AT401';
  ELSIF moving THEN
    RAISE EXCEPTION 'this company is moving' USING ERRCODE = 'AT404';
  END IF;
END $$;
