-- owner: jobs
-- transaction: none
-- Jobs that were put off because a limit was reached are found when it changes. Here, because it is built while people write.
DROP INDEX CONCURRENTLY IF EXISTS jobs_put_off;
-- next
CREATE INDEX CONCURRENTLY jobs_put_off ON jobs (org_id, id) WHERE state = 'scheduled' AND put_off_for = 'quota';
-- next
-- The jobs from before are counted: a page of 500 at a time, each page committed by itself, so that nothing that is written meanwhile waits
-- for long. What was counted is passed over, so this may be ended midway and done again. Two walks, because two indexes find a team's.
-- Companies that are leaving are counted too: they may stay.
DO $$
DECLARE
  companies uuid[];
  all_teams uuid[];
  company uuid;
  team uuid;
  few uuid[];
  after uuid;
  of_kind text;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(t.org_id ORDER BY t.id), array_agg(t.id ORDER BY t.id) INTO companies, all_teams
    FROM teams t;
  COMMIT;
  FOR i IN 1 .. coalesce(cardinality(all_teams), 0) LOOP
    company := companies[i];
    team := all_teams[i];
    after := '00000000-0000-0000-0000-000000000000';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT array_agg(j.id), (array_agg(j.id ORDER BY j.id DESC))[1] INTO few, after FROM (
        SELECT id FROM jobs WHERE org_id = company AND team_id = team AND listed AND id > after ORDER BY id LIMIT 500
      ) AS j;
      EXIT WHEN few IS NULL;
      UPDATE jobs SET kept_bytes = 0 WHERE org_id = company AND id IN (
        SELECT id FROM jobs WHERE org_id = company AND id = ANY (few) AND kept_bytes IS NULL ORDER BY id FOR NO KEY UPDATE);
      COMMIT;
    END LOOP;
    COMMIT;
    of_kind := '';
    after := '00000000-0000-0000-0000-000000000000';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT array_agg(j.id), (array_agg(j.id ORDER BY j.kind DESC, j.id DESC))[1], (array_agg(j.kind ORDER BY j.kind DESC))[1]
        INTO few, after, of_kind FROM (
        SELECT kind, id FROM jobs WHERE org_id = company AND team_id = team AND NOT listed AND (kind, id) > (of_kind, after)
         ORDER BY kind, id LIMIT 500
      ) AS j;
      EXIT WHEN few IS NULL;
      UPDATE jobs SET kept_bytes = 0 WHERE org_id = company AND id IN (
        SELECT id FROM jobs WHERE org_id = company AND id = ANY (few) AND kept_bytes IS NULL ORDER BY id FOR NO KEY UPDATE);
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
