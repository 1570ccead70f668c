-- owner: executors
-- Workers are no people. The credential of a pull executor is bound to the executor, and through it to a company or (null) to the
-- instance; it has no user, so it is in no listing, no grant and no role. It belongs to the instance, as the executor does.
CREATE TABLE worker_credentials (
  executor_id uuid PRIMARY KEY REFERENCES executors,
  digest bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, DELETE ON worker_credentials TO atrium_system;

-- Like find_principal, for a worker's token: the executor it stands for, until that retires.
CREATE FUNCTION find_worker(presented bytea) RETURNS TABLE (executor_id uuid, bound_to uuid, name text, suspended text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT e.id, e.bound_to, e.name,
         CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
              WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END
    FROM worker_credentials c JOIN executors e ON e.id = c.executor_id LEFT JOIN orgs o ON o.id = e.bound_to
   WHERE c.digest = presented AND e.retired_at IS NULL
$$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION find_worker(bytea) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION find_worker(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_worker(bytea) TO atrium_app;

-- What was there before: each pull executor had an account, and people could be given the role `worker`. Both end here. The owner's
-- own login may see none of it past the walls, so atrium_system is lent what it needs.
CREATE TEMP TABLE ending (id uuid PRIMARY KEY, org_id uuid NOT NULL, team_id uuid NOT NULL, heir uuid, named boolean) ON COMMIT DROP;
GRANT ALL ON ending TO atrium_system;
GRANT SELECT (owner_id), UPDATE (owner_id) ON notes, objects, multipart_uploads TO atrium_system;
GRANT SELECT (principal_id, owner_id), UPDATE (owner_id) ON object_grants TO atrium_system;
GRANT SELECT (user_id), DELETE ON note_grants TO atrium_system;
GRANT SELECT (created_by) ON object_versions, note_versions TO atrium_system;
GRANT DELETE ON s3_keys, users TO atrium_system;
SET LOCAL ROLE atrium_system;

-- The same raw token goes on working.
INSERT INTO worker_credentials (executor_id, digest, created_at)
SELECT e.id, t.digest, t.created_at FROM executors e JOIN tokens t ON t.id = e.token_id WHERE e.retired_at IS NULL;

INSERT INTO ending (id, org_id, team_id) SELECT id, org_id, team_id FROM users WHERE role = 'worker';

-- What they own goes to whoever made the executor (written in the same moment as its account), else to an owner of the team.
UPDATE ending d SET heir = (
  SELECT h.id FROM users h
   WHERE h.org_id = d.org_id AND h.left_at IS NULL AND h.id NOT IN (SELECT o.id FROM ending o)
   ORDER BY CASE WHEN EXISTS (SELECT FROM executors e JOIN users u ON u.created_at = e.created_at AND u.display_name = e.name
                               WHERE u.id = d.id AND e.created_by = h.id) THEN 0
                 WHEN h.team_id = d.team_id AND h.role = 'owner' THEN 1
                 WHEN h.team_id = d.team_id AND h.role = 'admin' THEN 2
                 WHEN h.org_role = 'org_owner' THEN 3
                 WHEN h.org_role = 'org_admin' THEN 4
                 WHEN h.team_id = d.team_id THEN 5 ELSE 6 END, h.id
   LIMIT 1);
UPDATE notes n SET owner_id = d.heir FROM ending d WHERE n.owner_id = d.id AND d.heir IS NOT NULL;
UPDATE objects o SET owner_id = d.heir FROM ending d WHERE o.owner_id = d.id AND d.heir IS NOT NULL;
UPDATE multipart_uploads m SET owner_id = d.heir FROM ending d WHERE m.owner_id = d.id AND d.heir IS NOT NULL;
UPDATE object_grants g SET owner_id = d.heir FROM ending d WHERE g.owner_id = d.id AND d.heir IS NOT NULL;

DELETE FROM object_grants g USING ending d WHERE g.principal_id = d.id OR g.owner_id = d.heir AND g.principal_id = d.heir;
DELETE FROM note_grants g USING ending d WHERE g.user_id = d.id;
DELETE FROM s3_keys k USING ending d WHERE k.user_id = d.id;
DELETE FROM tokens t USING ending d WHERE t.user_id = d.id;
DELETE FROM tokens t WHERE t.kind = 'worker';
DELETE FROM recovery_codes c USING ending d WHERE c.user_id = d.id;
DELETE FROM activations a USING ending d WHERE a.user_id = d.id;

-- Whoever is named by something keeps the name there, and is nobody any more; of the others nothing is left.
UPDATE ending d
   SET named = EXISTS (SELECT FROM notes n WHERE n.owner_id = d.id) OR EXISTS (SELECT FROM objects o WHERE o.owner_id = d.id)
            OR EXISTS (SELECT FROM multipart_uploads m WHERE m.owner_id = d.id)
            OR EXISTS (SELECT FROM note_versions v WHERE v.created_by = d.id)
            OR EXISTS (SELECT FROM object_versions v WHERE v.created_by = d.id)
            OR EXISTS (SELECT FROM jobs j WHERE j.user_id = d.id) OR EXISTS (SELECT FROM audit_events a WHERE a.actor_id = d.id);
UPDATE users u SET left_at = coalesce(u.left_at, now()), role = 'viewer', org_role = NULL, operator = false, password_hash = NULL,
       totp_sealed = NULL
  FROM ending d WHERE u.id = d.id AND d.named;
DELETE FROM users u USING ending d WHERE u.id = d.id AND NOT d.named;

SET LOCAL ROLE NONE;
REVOKE SELECT (owner_id), UPDATE (owner_id) ON notes, objects, multipart_uploads FROM atrium_system;
REVOKE SELECT (principal_id, owner_id), UPDATE (owner_id) ON object_grants FROM atrium_system;
REVOKE SELECT (user_id), DELETE ON note_grants FROM atrium_system;
REVOKE SELECT (created_by) ON object_versions, note_versions FROM atrium_system;
REVOKE DELETE ON s3_keys, users FROM atrium_system;

ALTER TABLE executors DROP COLUMN token_id;
ALTER TABLE tokens DROP CONSTRAINT tokens_kind_check, ADD CONSTRAINT tokens_kind_check CHECK (kind IN ('session', 'first', 'token'));
ALTER TABLE users ADD CHECK (role <> 'worker');
