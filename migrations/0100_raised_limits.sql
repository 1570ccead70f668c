-- owner: quotas
-- transaction: none
-- What was kept before counts from here on: entered into each company's books under their lock, as every round over them does, into what is
-- kept in all and not into what this month brought. A company after the other, each committed by itself; done again, nothing is entered
-- twice. Companies that are leaving are entered too: they may stay.
DO $$
DECLARE
  companies uuid[];
  company uuid;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(id ORDER BY id) INTO companies FROM orgs;
  COMMIT;
  FOREACH company IN ARRAY coalesce(companies, '{}') LOOP
    SET LOCAL ROLE atrium_app;
    PERFORM set_config('app.org_id', company::text, true);
    PERFORM pg_advisory_xact_lock(hashtext('atrium quotas'), hashtext(company::text));
    WITH taken AS (
      DELETE FROM storage_entries WHERE org_id = company RETURNING team_id, part, bytes
    ), summed AS (
      SELECT s.scope_id, d.dimension, sum(t.bytes) AS bytes
        FROM taken t
       CROSS JOIN LATERAL (VALUES (t.team_id), (company)) AS s (scope_id)
       CROSS JOIN LATERAL (VALUES ('storage.bytes'), ('storage.' || t.part)) AS d (dimension)
       GROUP BY s.scope_id, d.dimension
    )
    INSERT INTO quota_usage AS u (org_id, scope_id, dimension, counted_at, total)
    SELECT company, s.scope_id, s.dimension, clock_timestamp(), greatest(0, s.bytes) FROM summed s
    ON CONFLICT (org_id, scope_id, dimension) DO UPDATE SET total = greatest(0, u.total + (
      SELECT s.bytes FROM summed s WHERE s.scope_id = excluded.scope_id AND s.dimension = excluded.dimension));
    COMMIT;
  END LOOP;
END $$;
-- next
-- A limit below what is there by now is raised to it, so that nobody is refused for what was never counted; once, also where this is done
-- again and somebody set it in between. Without the lock of the books: a changed limit locks jobs and teams, and those come before it.
DO $$
DECLARE
  companies uuid[];
  company uuid;
BEGIN
  SET LOCAL ROLE atrium_system;
  SELECT array_agg(id ORDER BY id) INTO companies FROM orgs;
  COMMIT;
  FOREACH company IN ARRAY coalesce(companies, '{}') LOOP
    SET LOCAL ROLE atrium_app;
    PERFORM set_config('app.org_id', company::text, true);
    UPDATE quota_limits l SET most = u.total, raised_from = l.most, raised_at = now()
      FROM quota_usage u
     WHERE l.org_id = company AND l.dimension = 'storage.bytes' AND l.per = 'total' AND l.raised_at IS NULL
       AND u.org_id = company AND u.scope_id = l.scope_id AND u.dimension = 'storage.bytes' AND u.total > l.most;
    COMMIT;
  END LOOP;
END $$;
