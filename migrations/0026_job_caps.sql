-- owner: jobs
-- `least` passes over nulls: without a limit a team had a cap of a million instead of the usual eight, and a company whose limit was
-- taken away kept one of a million, so that every claim for one of its teams held the company's row.
CREATE OR REPLACE FUNCTION job_team_cap(org uuid, team uuid) RETURNS int LANGUAGE sql STABLE
  RETURN coalesce((SELECT min(least(most, 1000000))::int FROM quota_limits
                    WHERE org_id = org AND scope_id = team AND dimension = 'jobs.concurrency'), 8);
CREATE OR REPLACE FUNCTION job_org_cap(org uuid) RETURNS int LANGUAGE sql STABLE
  RETURN (SELECT min(least(most, 1000000))::int FROM quota_limits
           WHERE org_id = org AND scope_id = org AND dimension = 'jobs.concurrency');
SET LOCAL ROLE atrium_system;
UPDATE job_orgs SET cap = NULL WHERE cap = 1000000 AND job_org_cap(org_id) IS NULL;
UPDATE job_teams SET org_full = false WHERE org_full AND org_id IN (SELECT org_id FROM job_orgs WHERE cap IS NULL);
UPDATE job_teams SET cap = job_team_cap(org_id, team_id) WHERE cap = 1000000;
SET LOCAL ROLE NONE;
