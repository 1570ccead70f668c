-- owner: identity
-- Links with which somebody chooses a new password: one a person, by its digest, gone when it was used.
CREATE TABLE password_resets (
  org_id uuid NOT NULL,
  user_id uuid PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE INDEX password_resets_by_expiry ON password_resets (expires_at);
CALL wall_off('password_resets');
GRANT SELECT, INSERT, DELETE ON password_resets TO atrium_app, atrium_system;

-- Like hold_token, for what runs on somebody's behalf without a credential, such as a job: refused once they have left.
CREATE FUNCTION hold_person(person uuid, credential uuid, writing boolean, ending uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM lock_people(person, ending);
  IF NOT EXISTS (SELECT FROM users u WHERE u.id = person AND u.left_at IS NULL) THEN
    RAISE EXCEPTION 'this person has left' USING ERRCODE = 'AT401';
  END IF;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION hold_person(uuid, uuid, boolean, uuid[]) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION hold_person(uuid, uuid, boolean, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_person(uuid, uuid, boolean, uuid[]) TO atrium_app, atrium_system;

-- Behind the wall like any other; only the directory's role counts.
GRANT SELECT ON failed_sign_ins TO atrium_app;
