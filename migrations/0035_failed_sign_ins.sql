-- owner: identity
-- Failed sign-ins of an account since the last audit event about them: a flood of guesses becomes a few events, not a flood.
CREATE TABLE failed_sign_ins (
  org_id uuid NOT NULL,
  user_id uuid PRIMARY KEY,
  failures int NOT NULL DEFAULT 0,
  wrong_codes int NOT NULL DEFAULT 0,
  address text NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT now(),
  recorded_at timestamptz,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CALL wall_off('failed_sign_ins');
GRANT SELECT, INSERT, UPDATE, DELETE ON failed_sign_ins TO atrium_system;
