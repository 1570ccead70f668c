-- owner: s3
-- Like hold_token, for whoever signs with an access key.
CREATE FUNCTION hold_s3_key(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE suspended boolean;
BEGIN
  IF ending IS NULL THEN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(person, 0));
  ELSE
    PERFORM lock_people(person, ending);
  END IF;
  SELECT o.suspended_at IS NOT NULL OR EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) INTO suspended
    FROM s3_keys k JOIN orgs o ON o.id = k.org_id WHERE k.id = credential AND k.user_id = person;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this access key has ended' USING ERRCODE = 'AT401';
  ELSIF writing AND suspended THEN
    RAISE EXCEPTION 'this company is suspended' USING ERRCODE = 'AT402';
  END IF;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION hold_s3_key(uuid, uuid, boolean, uuid[]) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION hold_s3_key(uuid, uuid, boolean, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_s3_key(uuid, uuid, boolean, uuid[]) TO atrium_app, atrium_system;
