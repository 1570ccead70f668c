-- owner: audit
-- transaction: none
-- Events that name the API token by which something was given: few, read when that token is revoked.
DROP INDEX CONCURRENTLY IF EXISTS audit_events_of_tokens;
-- next
CREATE INDEX CONCURRENTLY audit_events_of_tokens ON audit_events (org_id, id DESC) WHERE facts ? 'token';
