-- owner: workflows
-- transaction: none
-- The versions and runs from before are counted, and the steps of runs: a page of at most 500 rows of one table at a time, each page
-- committed by itself, so that nothing that is written meanwhile waits for long. What was counted is passed over, so this may be ended
-- midway and done again. Companies that are leaving are counted too: they may stay.
DO $$
DECLARE
  companies uuid[];
  all_teams uuid[];
  company uuid;
  team uuid;
  named text;
  last int;
  numbers int[];
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(t.org_id ORDER BY t.id), array_agg(t.id ORDER BY t.id) INTO companies, all_teams FROM teams t;
  COMMIT;
  FOR i IN 1 .. coalesce(cardinality(all_teams), 0) LOOP
    company := companies[i];
    team := all_teams[i];
    named := '';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT w.slug INTO named FROM workflows w
       WHERE w.org_id = company AND w.team_id = team AND w.slug > named ORDER BY w.slug LIMIT 1;
      EXIT WHEN named IS NULL;
      last := 0;
      LOOP
        SELECT array_agg(v.version ORDER BY v.version) INTO numbers FROM (
          SELECT version FROM workflow_versions
           WHERE org_id = company AND team_id = team AND slug = named AND version > last AND kept_bytes IS NULL
           ORDER BY version LIMIT 500 FOR NO KEY UPDATE
        ) AS v;
        EXIT WHEN numbers IS NULL;
        last := numbers[cardinality(numbers)];
        UPDATE workflow_versions SET kept_bytes = 0
         WHERE org_id = company AND team_id = team AND slug = named AND version = ANY (numbers);
        COMMIT;
        SET LOCAL ROLE atrium_app;
        PERFORM set_config('app.org_id', company::text, true);
      END LOOP;
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
-- next
-- In the order of ids, which does not change while runs end.
DO $$
DECLARE
  companies uuid[];
  company uuid;
  page uuid[];
  after uuid;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(id ORDER BY id) INTO companies FROM orgs;
  COMMIT;
  FOREACH company IN ARRAY coalesce(companies, '{}') LOOP
    after := '00000000-0000-0000-0000-000000000000';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT array_agg(r.id ORDER BY r.id) INTO page FROM (
        SELECT id FROM runs WHERE org_id = company AND id > after ORDER BY id LIMIT 500
      ) AS r;
      EXIT WHEN page IS NULL;
      after := page[cardinality(page)];
      UPDATE runs SET kept_bytes = 0 WHERE org_id = company AND id IN (
        SELECT id FROM runs WHERE org_id = company AND id = ANY (page) AND kept_bytes IS NULL ORDER BY id FOR NO KEY UPDATE);
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
-- next
-- A run's steps are found by the run alone, so that the walk is over runs; pages of several runs with few steps are one.
DO $$
DECLARE
  companies uuid[];
  company uuid;
  page uuid[];
  after uuid;
  run uuid;
  names text[];
  places int[];
  last_name text;
  last_place int;
  uncommitted int := 0;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(id ORDER BY id) INTO companies FROM orgs;
  COMMIT;
  FOREACH company IN ARRAY coalesce(companies, '{}') LOOP
    after := '00000000-0000-0000-0000-000000000000';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT array_agg(r.id ORDER BY r.id) INTO page FROM (
        SELECT id FROM runs WHERE org_id = company AND id > after ORDER BY id LIMIT 500
      ) AS r;
      EXIT WHEN page IS NULL;
      after := page[cardinality(page)];
      FOREACH run IN ARRAY page LOOP
        last_name := '';
        last_place := -2;
        LOOP
          SELECT array_agg(s.step ORDER BY s.step, s.place), array_agg(s.place ORDER BY s.step, s.place) INTO names, places FROM (
            SELECT step, place FROM run_steps
             WHERE org_id = company AND run_id = run AND (step, place) > (last_name COLLATE "C", last_place) AND kept_bytes IS NULL
             ORDER BY step, place LIMIT 500 - uncommitted FOR NO KEY UPDATE
          ) AS s;
          EXIT WHEN names IS NULL;
          last_name := names[cardinality(names)];
          last_place := places[cardinality(places)];
          UPDATE run_steps s SET kept_bytes = 0 FROM unnest(names, places) AS p (step, place)
           WHERE s.org_id = company AND s.run_id = run AND s.step = p.step AND s.place = p.place;
          uncommitted := uncommitted + cardinality(names);
          IF uncommitted >= 500 THEN
            uncommitted := 0;
            COMMIT;
            SET LOCAL ROLE atrium_app;
            PERFORM set_config('app.org_id', company::text, true);
          END IF;
        END LOOP;
      END LOOP;
      uncommitted := 0;
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
