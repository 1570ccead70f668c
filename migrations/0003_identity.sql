-- owner: identity
CREATE TABLE users (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  username text NOT NULL,
  display_name text NOT NULL DEFAULT '',
  locale text,
  role text NOT NULL,
  org_role text CHECK (org_role IN ('org_reader', 'org_admin', 'org_owner')),
  operator boolean NOT NULL DEFAULT false,
  password_hash text,
  totp_sealed bytea,
  totp_last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id)
);
-- Usernames are unique on the instance: sign-in names no company.
CREATE UNIQUE INDEX users_by_username ON users (lower(username));
CREATE INDEX users_by_team ON users (org_id, team_id, created_at, id);
CALL wall_off('users');
GRANT SELECT, INSERT, UPDATE ON users TO atrium_app, atrium_system;

CREATE TABLE recovery_codes (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  digest bytea NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, digest),
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CALL wall_off('recovery_codes');
GRANT SELECT, INSERT, UPDATE, DELETE ON recovery_codes TO atrium_app;
GRANT SELECT, DELETE ON recovery_codes TO atrium_system;

-- Sessions, first sessions of new members and API tokens: whatever a bearer may present.
CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  user_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('session', 'first', 'token', 'worker')),
  digest bytea NOT NULL UNIQUE,
  name text NOT NULL DEFAULT '',
  scope text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  signed_in_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  idle_limit interval,
  expires_at timestamptz,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id)
);
CREATE INDEX tokens_by_user ON tokens (user_id, kind);
CREATE INDEX tokens_by_team ON tokens (team_id, id DESC) WHERE kind = 'token';
CREATE INDEX tokens_by_expiry ON tokens (expires_at) WHERE expires_at IS NOT NULL;
CALL wall_off('tokens');
GRANT SELECT, INSERT, UPDATE, DELETE ON tokens TO atrium_app, atrium_system;
