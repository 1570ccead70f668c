-- owner: jobs
-- Why an attempt was put off that did nothing: its job waits until then for that, and not for its turn. Null for other jobs that wait for
-- a time.
ALTER TABLE jobs ADD COLUMN put_off_for text;
GRANT SELECT (put_off_for), UPDATE (put_off_for) ON jobs TO atrium_system;

-- As before, and: jobs that were put off because a limit was reached look again at once. They come before the teams, and one that
-- another transaction holds is not waited for: whoever settles takes jobs first as well.
CREATE OR REPLACE FUNCTION job_caps_follow() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE company uuid := coalesce(NEW.org_id, OLD.org_id); scope uuid := coalesce(NEW.scope_id, OLD.scope_id);
BEGIN
  WITH due AS (
    UPDATE jobs j SET state = 'queued', put_off_for = NULL
     WHERE j.id IN (SELECT d.id FROM jobs d
                     WHERE d.org_id = company AND d.state = 'scheduled' AND d.put_off_for = 'quota'
                     ORDER BY d.id FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING j.org_id, j.team_id, j.pool
  )
  INSERT INTO job_wakes (org_id, team_id, pool) SELECT DISTINCT d.org_id, d.team_id, d.pool FROM due d;
  PERFORM FROM job_teams t WHERE t.org_id = company ORDER BY t.team_id FOR NO KEY UPDATE;
  IF coalesce(NEW.dimension, OLD.dimension) <> 'jobs.concurrency' THEN
    UPDATE job_lanes SET opens_at = NULL WHERE org_id = company AND opens_at IS NOT NULL;
  ELSIF scope = company THEN
    UPDATE job_orgs o SET cap = job_org_cap(company),
           running = (SELECT coalesce(sum(t.running), 0) FROM job_teams t WHERE t.org_id = company)
     WHERE o.org_id = company;
    UPDATE job_teams SET org_full = false WHERE org_id = company AND org_full;
  ELSE
    UPDATE job_teams SET cap = job_team_cap(company, scope) WHERE org_id = company AND team_id = scope;
  END IF;
  PERFORM pg_notify('atrium_jobs', '');
  RETURN NULL;
END $$;
