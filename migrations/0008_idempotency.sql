-- owner: idempotency
-- The reply is sealed: it may hold a token that is shown once.
CREATE TABLE idempotency_keys (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  key text NOT NULL,
  request bytea NOT NULL,
  reply_sealed bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, key),
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
CALL wall_off('idempotency_keys');
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO atrium_app;
GRANT SELECT (created_at), DELETE ON idempotency_keys TO atrium_system;
