-- owner: identity
-- Says whose suspension a late writer met, as the gate does: the company's (AT402), or the whole tenant's (AT403).
CREATE OR REPLACE FUNCTION hold_token(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE suspended text;
BEGIN
  IF ending IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(person, 0));
  ELSE
    PERFORM lock_people(person, ending);
  END IF;
  SELECT CASE WHEN o.suspended_at IS NOT NULL THEN 'AT402'
              WHEN EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) THEN 'AT403' END INTO suspended
    FROM tokens t JOIN orgs o ON o.id = t.org_id
   WHERE t.id = credential AND t.user_id = person AND (t.expires_at IS NULL OR t.expires_at > now());
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this credential has ended' USING ERRCODE = 'AT401';
  ELSIF writing AND suspended IS NOT NULL THEN
    RAISE EXCEPTION 'writing is suspended' USING ERRCODE = suspended;
  END IF;
END $$;
