-- owner: audit
-- Appended in the transaction of the change itself. A sealer later gives each closed row its place in the company's
-- hash chain: `seq` and `hash` are the only columns ever written twice, and only by atrium_system.
CREATE TABLE audit_events (
  org_id uuid NOT NULL REFERENCES orgs,
  id uuid NOT NULL,
  team_id uuid NOT NULL,
  actor_id uuid NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  facts jsonb NOT NULL DEFAULT '{}',
  at timestamptz NOT NULL DEFAULT now(),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint,
  hash bytea,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX audit_events_by_team ON audit_events (team_id, id DESC);
CREATE INDEX audit_events_unsealed ON audit_events (org_id, id) WHERE seq IS NULL;
CREATE UNIQUE INDEX audit_events_by_seq ON audit_events (org_id, seq) WHERE seq IS NOT NULL;
CALL wall_off('audit_events');
GRANT SELECT, INSERT (org_id, id, team_id, actor_id, kind, subject, facts) ON audit_events TO atrium_app, atrium_system;
GRANT UPDATE (seq, hash) ON audit_events TO atrium_system;

CREATE TABLE audit_heads (
  org_id uuid PRIMARY KEY REFERENCES orgs,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  sealed_at timestamptz NOT NULL DEFAULT now()
);
CALL wall_off('audit_heads');
GRANT SELECT ON audit_heads TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON audit_heads TO atrium_system;
