-- owner: limits
-- Not tenant data: keys are digests of addresses and usernames. Unlogged, because forgetting them in a crash is harmless.
CREATE UNLOGGED TABLE rate_limits (
  key bytea PRIMARY KEY,
  arrives_at timestamptz NOT NULL
);
CREATE INDEX rate_limits_by_time ON rate_limits (arrives_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limits TO atrium_system;

CREATE UNLOGGED TABLE login_failures (
  key bytea PRIMARY KEY,
  failures int NOT NULL,
  since timestamptz NOT NULL,
  blocked_until timestamptz
);
CREATE INDEX login_failures_by_time ON login_failures (since);
GRANT SELECT, INSERT, UPDATE, DELETE ON login_failures TO atrium_system;
