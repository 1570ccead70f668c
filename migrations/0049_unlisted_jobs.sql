-- owner: jobs
-- Jobs that the product queues for itself are in no listing unless it asks for their kind, and cost it nothing.
ALTER TABLE jobs ADD COLUMN listed boolean NOT NULL DEFAULT true;
DROP INDEX jobs_of_team, jobs_of_team_by_state;
CREATE INDEX jobs_of_team ON jobs (team_id, id DESC) WHERE listed;
CREATE INDEX jobs_of_team_by_state ON jobs (team_id, state, id) WHERE listed;
CREATE INDEX jobs_unlisted ON jobs (team_id, kind, id DESC) WHERE NOT listed;

-- As before, and teams to pass over for now: a process that already works for them gives the others their turn first.
DROP FUNCTION claim_jobs(text[], uuid, int, uuid);
CREATE FUNCTION claim_jobs(pools text[], worker_id uuid, most int, bound_to uuid, passing uuid[] DEFAULT '{}') RETURNS TABLE (
  id uuid, org_id uuid, team_id uuid, user_id uuid, kind text, model text, attempt int, claim_token uuid, lease_until timestamptz
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  woken bigint[]; woken_orgs uuid[]; woken_teams uuid[]; woken_pools text[];
  lane_teams uuid[]; lane_pools text[]; held_orgs uuid[]; chosen uuid[]; got int := 0;
BEGIN
  -- Lanes that somebody woke, of teams that nobody holds, become ready.
  SELECT array_agg(x.id), array_agg(x.org_id), array_agg(x.team_id), array_agg(x.pool)
    INTO woken, woken_orgs, woken_teams, woken_pools
    FROM (SELECT w.id, w.org_id, w.team_id, w.pool FROM job_wakes w JOIN job_teams t ON t.team_id = w.team_id
           ORDER BY w.id LIMIT 1000 FOR NO KEY UPDATE OF w, t SKIP LOCKED) x;
  IF woken IS NOT NULL THEN
    DELETE FROM job_wakes w WHERE w.id = ANY (woken);
    INSERT INTO job_lanes AS l (team_id, org_id, pool, ready, open)
    SELECT DISTINCT u.team_id, u.org_id, u.pool, true, t.open
      FROM unnest(woken_teams, woken_orgs, woken_pools) u (team_id, org_id, pool) JOIN job_teams t ON t.team_id = u.team_id
    ON CONFLICT (team_id, pool) DO UPDATE SET ready = true WHERE NOT l.ready;
  END IF;

  -- A second round only when the first met lanes that turned out empty or of a company at its cap.
  FOR round IN 1..4 LOOP
    IF bound_to IS NULL THEN
      SELECT array_agg(x.team_id), array_agg(x.pool) INTO lane_teams, lane_pools
        FROM (SELECT l.team_id, l.pool FROM unnest(pools) p (pool) CROSS JOIN LATERAL (
                SELECT l.team_id, l.pool, l.turn FROM job_lanes l JOIN job_teams t ON t.team_id = l.team_id
                 WHERE l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL AND l.team_id <> ALL (passing)
                 ORDER BY l.turn LIMIT most - got FOR NO KEY UPDATE OF t SKIP LOCKED) l
               ORDER BY l.turn LIMIT most - got) x;
    ELSE
      SELECT array_agg(x.team_id), array_agg(x.pool) INTO lane_teams, lane_pools
        FROM (SELECT l.team_id, l.pool FROM unnest(pools) p (pool) CROSS JOIN LATERAL (
                SELECT l.team_id, l.pool, l.turn FROM job_lanes l JOIN job_teams t ON t.team_id = l.team_id
                 WHERE l.org_id = bound_to AND l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL AND l.team_id <> ALL (passing)
                 ORDER BY l.turn LIMIT most - got FOR NO KEY UPDATE OF t SKIP LOCKED) l
               ORDER BY l.turn LIMIT most - got) x;
    END IF;
    EXIT WHEN lane_teams IS NULL;

    -- Companies with a cap of their own are held as well. The first round holds none yet and may wait for them, in order.
    IF round = 1 THEN
      SELECT array_agg(x.org_id) INTO held_orgs FROM (
        SELECT o.org_id FROM job_orgs o
         WHERE o.cap IS NOT NULL AND o.org_id IN (SELECT t.org_id FROM job_teams t WHERE t.team_id = ANY (lane_teams))
         ORDER BY o.org_id FOR NO KEY UPDATE) x;
    ELSE
      SELECT held_orgs || array_agg(x.org_id) INTO held_orgs FROM (
        SELECT o.org_id FROM job_orgs o
         WHERE o.cap IS NOT NULL AND o.org_id IN (SELECT t.org_id FROM job_teams t WHERE t.team_id = ANY (lane_teams))
         ORDER BY o.org_id FOR NO KEY UPDATE SKIP LOCKED) x;
    END IF;

    WITH lane AS MATERIALIZED (
      SELECT l.team_id, l.pool, l.turn, t.org_id, t.cap - t.running AS room, t.weight, sum(t.weight) OVER () AS weights
        FROM unnest(lane_teams, lane_pools) c (team_id, pool)
        JOIN job_lanes l ON l.team_id = c.team_id AND l.pool = c.pool
        JOIN job_teams t ON t.team_id = l.team_id
        JOIN job_orgs o ON o.org_id = t.org_id
       WHERE l.ready AND t.open AND l.opens_at IS NULL AND (o.cap IS NULL OR o.org_id = ANY (held_orgs))
    ), head AS (
      SELECT lane.org_id, lane.team_id, lane.turn, lane.room, lane.weight, j.id,
             row_number() OVER (PARTITION BY lane.team_id ORDER BY j.priority DESC, j.id) AS nth
        FROM lane CROSS JOIN LATERAL (
          SELECT j.id, j.priority FROM jobs j
           WHERE j.team_id = lane.team_id AND j.pool = lane.pool AND j.state = 'queued'
           ORDER BY j.priority DESC, j.id
           LIMIT least(lane.room, ceil((most - got)::numeric * lane.weight / lane.weights)::int)
           FOR NO KEY UPDATE SKIP LOCKED) j
    ), share AS (
      SELECT h.*, row_number() OVER (PARTITION BY h.org_id ORDER BY (h.nth - 1) / h.weight, h.turn, h.id) AS org_nth
        FROM (SELECT * FROM head WHERE nth <= room ORDER BY (nth - 1) / weight, turn, id LIMIT most - got) h
    ), ruled AS MATERIALIZED (
      SELECT s.*, o.cap IS NULL OR s.org_nth <= o.cap - o.running AS fits, o.cap IS NOT NULL AS capped
        FROM share s JOIN job_orgs o ON o.org_id = s.org_id
    ), orgs_served AS (
      UPDATE job_orgs o SET running = o.running + s.n
        FROM (SELECT r.org_id, count(*)::int AS n FROM ruled r WHERE r.fits AND r.capped GROUP BY r.org_id) s
       WHERE o.org_id = s.org_id
    ), teams_served AS (
      UPDATE job_teams t SET running = t.running + s.n, org_full = s.full
        FROM (SELECT r.team_id, count(*) FILTER (WHERE r.fits)::int AS n, bool_or(NOT r.fits) AS full
                FROM ruled r GROUP BY r.team_id) s
       WHERE t.team_id = s.team_id
    )
    SELECT array_agg(r.id) FILTER (WHERE r.fits) INTO chosen FROM ruled r;

    RETURN QUERY
      UPDATE jobs j SET state = 'running', attempt = j.attempt + 1, claim_token = gen_random_uuid(), worker = worker_id,
             lease_until = clock_timestamp() + j.lease, started_at = coalesce(j.started_at, clock_timestamp())
       WHERE j.id = ANY (chosen)
      RETURNING j.id, j.org_id, j.team_id, j.user_id, j.kind, j.model, j.attempt, j.claim_token, j.lease_until;
    got := got + coalesce(cardinality(chosen), 0);

    -- A team's turn is one, however many of its lanes were asked for; an emptied lane leaves the round.
    UPDATE job_lanes l
       SET turn = v.turn,
           ready = EXISTS (SELECT FROM jobs j WHERE j.team_id = l.team_id AND j.pool = l.pool AND j.state = 'queued')
      FROM (SELECT d.team_id, nextval('job_turns') AS turn
              FROM (SELECT DISTINCT c.team_id FROM unnest(lane_teams) c (team_id)) d) v
     WHERE l.team_id = v.team_id AND l.pool = ANY (pools) AND l.ready;
    EXIT WHEN got >= most;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION claim_jobs(text[], uuid, int, uuid, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_jobs(text[], uuid, int, uuid, uuid[]) TO atrium_system;
