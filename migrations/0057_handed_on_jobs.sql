-- owner: jobs
-- Two additions to the queue: an attempt can be put off without being counted, and what follows from a settled job can be claimed by the
-- same worker in the transaction that settles it.

-- As before, and: `returned` with `again_in` waits that long before it is queued again.
CREATE OR REPLACE FUNCTION settle_jobs(company uuid, ids uuid[], tokens uuid[], outcomes text[], results text[], errors text[], again_in interval[])
RETURNS TABLE (
  id uuid, token uuid, team_id uuid, user_id uuid, scope text[], kind text, pool text, state text, attempt int, admission_id uuid
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  -- In the order of ids, as everybody who holds several jobs takes them.
  RETURN QUERY
    WITH ended AS (
      UPDATE jobs j
         SET state = CASE WHEN u.outcome = 'succeeded' THEN 'succeeded'
                          WHEN u.outcome = 'returned' AND j.cancel_asked THEN 'cancelled'
                          WHEN u.outcome = 'returned' AND u.again_in IS NOT NULL THEN 'scheduled'
                          WHEN u.outcome = 'returned' THEN 'queued'
                          WHEN u.again_in IS NOT NULL AND NOT j.cancel_asked AND j.failures + j.lapses + 1 < j.max_attempts
                            THEN 'scheduled'
                          ELSE 'failed' END,
             result = u.result::jsonb,
             error = CASE WHEN u.outcome = 'returned' THEN j.error ELSE u.error END,
             failures = j.failures + (u.outcome = 'failed')::int,
             attempt = j.attempt - (u.outcome = 'returned')::int,
             run_at = coalesce(clock_timestamp() + u.again_in, j.run_at),
             finished_at = CASE WHEN u.outcome = 'succeeded' OR j.cancel_asked
                                  OR u.outcome = 'failed' AND (u.again_in IS NULL OR j.failures + j.lapses + 1 >= j.max_attempts)
                                THEN clock_timestamp() END,
             claim_token = NULL, lease_until = NULL, worker = NULL
        FROM (SELECT * FROM unnest(ids, tokens, outcomes, results, errors, again_in) g (id, token, outcome, result, error, again_in)
               ORDER BY g.id) u
       WHERE j.id = u.id AND j.org_id = company AND j.state = 'running' AND j.claim_token = u.token
         AND j.lease_until > clock_timestamp()
      RETURNING j.id, u.token, j.team_id, j.user_id, j.scope, j.kind, j.pool, j.state, j.attempt, j.admission_id
    ), freed AS MATERIALIZED (
      SELECT free_job_slots(company, array_agg(e.team_id)) FROM ended e
    )
    SELECT e.* FROM freed, ended e;
END $$;

-- Whether work waits in one of these pools, of any company; it says nothing of whose.
CREATE FUNCTION is_work_waiting(pools text[]) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN EXISTS (SELECT FROM unnest(pools) AS p (pool)
                  WHERE EXISTS (SELECT FROM job_lanes l WHERE l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL)
                     OR EXISTS (SELECT FROM job_wakes w WHERE w.pool = p.pool));

-- Claim jobs that the caller has just queued, without a wake-up call, for the worker whose attempts it settles. The caller holds their
-- teams, and the company when it has a cap, since it gave back the places of what it settled. Nothing is claimed while anything else
-- waits in the pools that the worker serves, so that a long run never passes another team, or an older job of its own.
CREATE FUNCTION hand_on_jobs(company uuid, ids uuid[], worker_id uuid, served text[], most int) RETURNS TABLE (
  id uuid, org_id uuid, team_id uuid, user_id uuid, kind text, model text, attempt int, claim_token uuid, lease_until timestamptz,
  scope text[], input jsonb
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE chosen uuid[]; teams uuid[];
BEGIN
  IF is_work_waiting(served) THEN RETURN; END IF;
  SELECT array_agg(x.id), array_agg(x.team_id) INTO chosen, teams FROM (
    SELECT f.id, f.team_id FROM (
      SELECT j.id, j.team_id, t.cap - t.running AS room, o.cap - o.running AS company_room,
             row_number() OVER (PARTITION BY j.team_id ORDER BY j.id) AS nth, row_number() OVER (ORDER BY j.id) AS company_nth
        FROM jobs j JOIN job_teams t ON t.team_id = j.team_id JOIN job_orgs o ON o.org_id = j.org_id
        LEFT JOIN job_lanes l ON l.team_id = j.team_id AND l.pool = j.pool
       WHERE j.org_id = company AND j.id = ANY (ids) AND j.state = 'queued' AND j.pool = ANY (served) AND t.open AND l.opens_at IS NULL) f
     WHERE f.nth <= f.room AND (f.company_room IS NULL OR f.company_nth <= f.company_room) ORDER BY f.id LIMIT most) x;
  IF chosen IS NULL THEN RETURN; END IF;
  UPDATE job_teams t SET running = t.running + s.n
    FROM (SELECT u.team_id, count(*)::int AS n FROM unnest(teams) u (team_id) GROUP BY u.team_id) s
   WHERE t.org_id = company AND t.team_id = s.team_id;
  UPDATE job_orgs o SET running = o.running + cardinality(chosen) WHERE o.org_id = company AND o.cap IS NOT NULL;
  RETURN QUERY
    UPDATE jobs j SET state = 'running', attempt = j.attempt + 1, claim_token = gen_random_uuid(), worker = worker_id,
           lease_until = clock_timestamp() + j.lease, started_at = coalesce(j.started_at, clock_timestamp())
     WHERE j.org_id = company AND j.id = ANY (chosen)
    RETURNING j.id, j.org_id, j.team_id, j.user_id, j.kind, j.model, j.attempt, j.claim_token, j.lease_until, j.scope, j.input;
END $$;

GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION is_work_waiting(text[]) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION is_work_waiting(text[]), hand_on_jobs(uuid, uuid[], uuid, text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_work_waiting(text[]), hand_on_jobs(uuid, uuid[], uuid, text[], int) TO atrium_app;
