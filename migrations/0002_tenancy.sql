-- owner: tenancy
CREATE TABLE orgs (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9-]{1,63}$'),
  name text NOT NULL,
  suspended_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CALL wall_off('orgs', 'id');
GRANT SELECT ON orgs TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON orgs TO atrium_system;

CREATE TABLE teams (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id)
);
CREATE INDEX teams_by_org ON teams (org_id, created_at, id);
CALL wall_off('teams');
GRANT SELECT, INSERT, UPDATE ON teams TO atrium_app;
GRANT SELECT, INSERT ON teams TO atrium_system;
