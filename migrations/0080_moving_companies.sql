-- owner: tenancy
-- A company on its way to another instance: read here, written nowhere, until it was released or stays.
ALTER TABLE orgs ADD moving_at timestamptz;

-- Every change records an event in its own transaction, so this is where every change of a company that is leaving stops,
-- whichever way it came. The lock is the one the foreign key takes anyway; marking a company takes the row alone, so
-- that a change that was under way is over before, and one that comes later sees the mark.
CREATE FUNCTION refuse_while_moving() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE moving timestamptz;
BEGIN
  SELECT o.moving_at INTO moving FROM orgs o WHERE o.id = NEW.org_id FOR KEY SHARE;
  IF moving IS NOT NULL THEN
    RAISE EXCEPTION 'this company is moving' USING ERRCODE = 'AT404';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER refuse_while_moving BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_while_moving();

-- Where a company went, by digests of what its people present: tokens, access keys, its hostname.
CREATE TABLE moved_names (
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  moved_org uuid NOT NULL,
  location text NOT NULL
);
CREATE INDEX moved_names_by_company ON moved_names (moved_org);
GRANT SELECT ON moved_names TO atrium_system;

GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION refuse_while_moving() OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION refuse_while_moving() FROM PUBLIC;
