-- owner: limits
-- From where an account was signed in to, as a digest of both: such an address does not wait for what strangers at it did.
CREATE TABLE known_sign_ins (
  key bytea PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
CREATE INDEX known_sign_ins_by_time ON known_sign_ins (seen_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON known_sign_ins TO atrium_system;
