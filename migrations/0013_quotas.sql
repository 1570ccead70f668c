-- owner: quotas
-- A scope is a team, or the company above it (scope_id = org_id). One row of usage per scope and dimension holds every
-- window at once, so that admission touches as many rows as there are dimensions, however many windows are limited.
CREATE TABLE quota_limits (
  org_id uuid NOT NULL REFERENCES orgs,
  scope_id uuid NOT NULL,
  dimension text NOT NULL,
  per text NOT NULL CHECK (per IN ('minute', 'hour', 'day', 'month', 'total')),
  most bigint NOT NULL CHECK (most >= 0),
  PRIMARY KEY (org_id, scope_id, dimension, per)
);
CALL wall_off('quota_limits');
GRANT SELECT, INSERT, UPDATE, DELETE ON quota_limits TO atrium_app, atrium_system;

CREATE TABLE quota_usage (
  org_id uuid NOT NULL REFERENCES orgs,
  scope_id uuid NOT NULL,
  dimension text NOT NULL,
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  counted_at timestamptz NOT NULL,
  minute bigint NOT NULL DEFAULT 0,
  hour bigint NOT NULL DEFAULT 0,
  day bigint NOT NULL DEFAULT 0,
  month bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0 CHECK (total >= 0),
  PRIMARY KEY (org_id, scope_id, dimension)
) WITH (fillfactor = 50);
CALL wall_off('quota_usage');
GRANT SELECT, INSERT, UPDATE ON quota_usage TO atrium_app;
GRANT SELECT ON quota_usage TO atrium_system;

-- What was promised and not yet used. A hold whose process died is freed when it expires; a settled one stays for a day,
-- so that a repeated settlement finds it settled.
CREATE TABLE quota_holds (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  amounts jsonb NOT NULL,
  state text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'settled', 'lapsed')),
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CREATE INDEX quota_holds_live ON quota_holds (org_id, expires_at) WHERE state = 'held';
CREATE INDEX quota_holds_by_time ON quota_holds (created_at);
CALL wall_off('quota_holds');
GRANT SELECT, INSERT, UPDATE ON quota_holds TO atrium_app;
GRANT SELECT (id, org_id, state, expires_at, created_at), DELETE ON quota_holds TO atrium_system;
