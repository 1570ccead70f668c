-- owner: notes
-- transaction: none
-- The notes from before are counted, and the texts they had: a page of at most 500 rows of one table at a time, each page committed by
-- itself, so that nothing that is written meanwhile waits for long. What was counted is passed over, so this may be ended midway and done
-- again. Companies that are leaving are counted too: they may stay.
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
      SELECT array_agg(n.id ORDER BY n.id) INTO page FROM (
        SELECT id FROM notes WHERE org_id = company AND id > after ORDER BY id LIMIT 500
      ) AS n;
      EXIT WHEN page IS NULL;
      after := page[cardinality(page)];
      UPDATE notes SET kept_bytes = 0 WHERE org_id = company AND id IN (
        SELECT id FROM notes WHERE org_id = company AND id = ANY (page) AND kept_bytes IS NULL ORDER BY id FOR NO KEY UPDATE);
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
-- next
-- A note's versions are found by the note alone, so that the walk is over notes; pages of several notes with few versions are one.
DO $$
DECLARE
  companies uuid[];
  company uuid;
  page uuid[];
  after uuid;
  note uuid;
  last int;
  numbers int[];
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
      SELECT array_agg(n.id ORDER BY n.id) INTO page FROM (
        SELECT id FROM notes WHERE org_id = company AND id > after ORDER BY id LIMIT 500
      ) AS n;
      EXIT WHEN page IS NULL;
      after := page[cardinality(page)];
      FOREACH note IN ARRAY page LOOP
        last := -1;
        LOOP
          SELECT array_agg(v.number ORDER BY v.number) INTO numbers FROM (
            SELECT number FROM note_versions WHERE org_id = company AND note_id = note AND number > last AND kept_bytes IS NULL
             ORDER BY number LIMIT 500 - uncommitted FOR NO KEY UPDATE
          ) AS v;
          EXIT WHEN numbers IS NULL;
          last := numbers[cardinality(numbers)];
          UPDATE note_versions SET kept_bytes = 0 WHERE org_id = company AND note_id = note AND number = ANY (numbers);
          uncommitted := uncommitted + cardinality(numbers);
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
