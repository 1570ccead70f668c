-- owner: repository
-- transaction: none
-- The objects from before unread_objects that belong there: a few at a time, each few committed by themselves, so that nothing that is
-- written meanwhile waits for them. Done twice it is the same as done once.
DO $$
DECLARE
  companies uuid[];
  company uuid;
  after uuid;
  upto uuid;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(id) INTO companies FROM orgs;
  COMMIT;
  FOREACH company IN ARRAY coalesce(companies, '{}') LOOP
    after := '00000000-0000-0000-0000-000000000000';
    LOOP
      SET LOCAL ROLE atrium_app;
      PERFORM set_config('app.org_id', company::text, true);
      SELECT few.id INTO upto FROM (
        SELECT o.id FROM objects o WHERE o.org_id = company AND o.id > after ORDER BY o.id LIMIT 2000
      ) AS few ORDER BY few.id DESC LIMIT 1;
      EXIT WHEN upto IS NULL;
      INSERT INTO unread_objects (object_id, org_id, team_id, version_id, written_at)
        SELECT o.id, o.org_id, o.team_id, v.id, o.written_at
          FROM objects o JOIN object_versions v ON v.org_id = o.org_id AND v.id = o.version_id
         WHERE o.org_id = company AND o.id > after AND o.id <= upto AND NOT o.deleted AND has_text(v.content_type, v.filename, v.size)
           AND NOT EXISTS (SELECT FROM object_texts t WHERE t.org_id = o.org_id AND t.version_id = v.id)
      ON CONFLICT (object_id) DO NOTHING;
      after := upto;
      COMMIT;
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
