-- owner: instance
-- One row at most: whoever inserts it first has bootstrapped the instance.
CREATE TABLE instance (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  operator_id uuid NOT NULL,
  default_locale text,
  locale_switching boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON instance TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON instance TO atrium_system;

-- A value sealed by the instance's key: a process with another key refuses to start instead of failing later.
CREATE TABLE key_check (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  sealed bytea NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON key_check TO atrium_system;
