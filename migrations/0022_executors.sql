-- owner: executors
-- Machines that run work for the instance, or (bound) for one company only. They belong to the instance: a worker account in
-- some company carries the token, and the key of a push executor is sealed.
CREATE TABLE executors (
  id uuid PRIMARY KEY,
  bound_to uuid,
  name text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('pull', 'push')),
  model text,
  url text,
  key_sealed bytea,
  capabilities text[] NOT NULL DEFAULT '{}',
  token_id uuid UNIQUE,
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz,
  retired_at timestamptz,
  CHECK ((mode = 'push') = (url IS NOT NULL))
);
CREATE UNIQUE INDEX executors_by_name ON executors (coalesce(bound_to, '00000000-0000-0000-0000-000000000000'), lower(name))
  WHERE retired_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON executors TO atrium_system;

-- Which executor a team uses for a role; no row means the instance's default.
CREATE TABLE model_roles (
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  role text NOT NULL CHECK (role IN ('utility')),
  executor text NOT NULL,
  PRIMARY KEY (team_id, role),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('model_roles');
GRANT SELECT, INSERT, UPDATE, DELETE ON model_roles TO atrium_app;
