-- owner: jobs
-- A running job is not stopped and finishes: one that somebody asked to cancel ends as it ends, succeeded or failed, and is not tried
-- again. Only what waits is cancelled: before it was claimed, or when a worker gives it back untouched.

-- Settle attempts of one company: only the current token under a live lease counts, the others come back not at all.
-- An outcome is `succeeded`, `failed` (again after `again_in`, unless null or out of attempts) or `returned`, which is no attempt.
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
                          WHEN u.outcome = 'returned' THEN 'queued'
                          WHEN u.again_in IS NOT NULL AND NOT j.cancel_asked AND j.failures + j.lapses + 1 < j.max_attempts
                            THEN 'scheduled'
                          ELSE 'failed' END,
             result = u.result::jsonb,
             error = CASE WHEN u.outcome = 'returned' THEN j.error ELSE u.error END,
             failures = j.failures + (u.outcome = 'failed')::int,
             attempt = j.attempt - (u.outcome = 'returned')::int,
             run_at = CASE WHEN u.outcome = 'failed' THEN coalesce(clock_timestamp() + u.again_in, j.run_at) ELSE j.run_at END,
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

-- Take attempts whose lease has run out away from their workers; past its limit a job ends, it never loops.
CREATE OR REPLACE FUNCTION lapse_jobs(company uuid, ids uuid[])
RETURNS TABLE (
  id uuid, token uuid, team_id uuid, user_id uuid, scope text[], kind text, pool text, state text, attempt int, admission_id uuid
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE held uuid[]; teams uuid[];
BEGIN
  SELECT array_agg(x.id), array_agg(x.team_id) INTO held, teams FROM (
    SELECT j.id, j.team_id FROM jobs j
     WHERE j.org_id = company AND j.id = ANY (ids) AND j.state = 'running' AND j.lease_until < clock_timestamp()
     ORDER BY j.id FOR NO KEY UPDATE SKIP LOCKED) x;
  IF held IS NULL THEN RETURN; END IF;
  PERFORM free_job_slots(company, teams);
  RETURN QUERY
    UPDATE jobs j
       SET state = d.state, lapses = j.lapses + 1, error = 'the worker went silent and its lease ran out',
           finished_at = CASE WHEN d.state <> 'queued' THEN clock_timestamp() END,
           claim_token = NULL, lease_until = NULL, worker = NULL
      FROM (SELECT k.id, k.claim_token AS token, CASE WHEN NOT k.cancel_asked AND k.failures + k.lapses + 1 < k.max_attempts THEN 'queued'
                                                            ELSE 'failed' END AS state
              FROM jobs k WHERE k.org_id = company AND k.id = ANY (held)) d
     WHERE j.org_id = company AND j.id = d.id
    RETURNING j.id, d.token, j.team_id, j.user_id, j.scope, j.kind, j.pool, j.state, j.attempt, j.admission_id;
END $$;
