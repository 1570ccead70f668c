-- owner: repository
-- Texts are read by jobs now: each company's wait in lanes of their own. What waited here, or was being read, is queued for its
-- writer, or for the object's owner when the writer has left.
ALTER TABLE object_texts NO FORCE ROW LEVEL SECURITY;
ALTER TABLE object_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE objects NO FORCE ROW LEVEL SECURITY;
ALTER TABLE users NO FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE job_wakes NO FORCE ROW LEVEL SECURITY;
CREATE TEMPORARY TABLE unread ON COMMIT DROP AS
  SELECT t.version_id, t.org_id, u.id AS user_id, u.team_id
    FROM object_texts t
    JOIN object_versions v ON v.org_id = t.org_id AND v.id = t.version_id
    JOIN objects o ON o.org_id = t.org_id AND o.id = t.object_id
    LEFT JOIN LATERAL (
      SELECT p.id, p.team_id FROM users p
       WHERE p.org_id = t.org_id AND p.id IN (v.created_by, o.owner_id) AND p.left_at IS NULL
       ORDER BY p.id = v.created_by DESC LIMIT 1) u ON true
   WHERE t.state IN ('waiting', 'running');
UPDATE object_texts t SET state = CASE WHEN u.user_id IS NULL THEN 'failed' ELSE 'waiting' END,
                          problem = CASE WHEN u.user_id IS NULL THEN 'its writer and its owner have left' END
  FROM unread u WHERE t.org_id = u.org_id AND t.version_id = u.version_id;
-- Identifiers carry their time, as those that the program makes.
INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input, listed)
  SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(u.version_id::text), 1, 3) || '8' || substr(md5(u.version_id::text), 4, 15))::uuid,
         u.org_id, u.team_id, u.user_id, 'extraction.text', 'extraction.text', 'queued', 3, interval '60 seconds',
         jsonb_build_object('version_id', u.version_id), false
    FROM unread u WHERE u.user_id IS NOT NULL;
INSERT INTO job_wakes (org_id, team_id, pool)
  SELECT DISTINCT u.org_id, u.team_id, 'extraction.text' FROM unread u WHERE u.user_id IS NOT NULL;
DROP TABLE unread;
ALTER TABLE job_wakes FORCE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
ALTER TABLE objects FORCE ROW LEVEL SECURITY;
ALTER TABLE object_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE object_texts FORCE ROW LEVEL SECURITY;

REVOKE SELECT (version_id, org_id, state, due_at) ON object_texts FROM atrium_system;
DROP INDEX object_texts_due;
ALTER TABLE object_texts DROP COLUMN attempts, DROP COLUMN due_at;
