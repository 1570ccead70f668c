-- owner: jobs
-- The queue. A *lane* is one team's jobs of one pool (a kind, or a kind for one model); a claim searches lanes, never jobs.
-- Locking, on which the absence of deadlocks rests:
--   enqueuing only inserts: it locks no row of the scheduler, so an open transaction delays nobody;
--   a row of job_teams is the mutex of its team: running, gates and lanes change only under it;
--   a claim takes teams with SKIP LOCKED, then the companies that have a cap;
--   whoever settles takes jobs, then teams in order, then the company, then (in another domain) the quota's books.
-- atrium_system schedules over all companies and reads no input, result or error.

CREATE TABLE job_orgs (
  org_id uuid PRIMARY KEY REFERENCES orgs ON DELETE CASCADE,
  cap int CHECK (cap >= 0),
  -- Counted only while there is a cap.
  running int NOT NULL DEFAULT 0 CHECK (running >= 0)
) WITH (fillfactor = 50);
CALL wall_off('job_orgs');
GRANT SELECT, UPDATE (running) ON job_orgs TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON job_orgs TO atrium_system;

CREATE TABLE job_teams (
  team_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  cap int NOT NULL DEFAULT 8 CHECK (cap >= 0),
  weight int NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 100),
  running int NOT NULL DEFAULT 0 CHECK (running >= 0),
  -- Copies: whether the company and the instance may run anything, and whether a claim found the company at its cap.
  org_open boolean NOT NULL DEFAULT true,
  org_full boolean NOT NULL DEFAULT false,
  open boolean NOT NULL GENERATED ALWAYS AS (running < cap AND org_open AND NOT org_full) STORED,
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_teams_of_org ON job_teams (org_id);
CREATE INDEX job_teams_full ON job_teams (org_id) WHERE org_full;
CALL wall_off('job_teams');
GRANT SELECT, UPDATE (running, org_full) ON job_teams TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON job_teams TO atrium_system;

CREATE TABLE job_lanes (
  team_id uuid NOT NULL,
  org_id uuid NOT NULL,
  pool text COLLATE "C" NOT NULL,
  ready boolean NOT NULL DEFAULT false,
  open boolean NOT NULL,
  -- Set while the quota that its jobs spend is used up: when to look again.
  opens_at timestamptz,
  -- Place in the round; the least was served longest ago.
  turn bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (team_id, pool),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_lanes_in_turn ON job_lanes (pool, turn) WHERE ready AND open AND opens_at IS NULL;
CREATE INDEX job_lanes_of_org ON job_lanes (org_id, pool, turn) WHERE ready AND open AND opens_at IS NULL;
CREATE INDEX job_lanes_closed ON job_lanes (opens_at) WHERE opens_at IS NOT NULL;
CALL wall_off('job_lanes');
GRANT SELECT, UPDATE (opens_at) ON job_lanes TO atrium_app;
GRANT SELECT, INSERT, UPDATE ON job_lanes TO atrium_system;
CREATE SEQUENCE job_turns;
GRANT USAGE ON SEQUENCE job_turns TO atrium_system;

-- Appended with every job that can run: its lane may have been idle. A claim drains them.
CREATE TABLE job_wakes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs ON DELETE CASCADE,
  team_id uuid NOT NULL,
  pool text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CALL wall_off('job_wakes');
GRANT SELECT, INSERT (org_id, team_id, pool) ON job_wakes TO atrium_app;
GRANT SELECT, INSERT (org_id, team_id, pool), UPDATE, DELETE ON job_wakes TO atrium_system;

CREATE TABLE jobs (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- What the credential that asked was narrowed to; the job reaches no further.
  scope text[],
  kind text COLLATE "C" NOT NULL,
  model text,
  pool text COLLATE "C" NOT NULL,
  priority smallint NOT NULL DEFAULT 0,
  state text NOT NULL CHECK (state IN ('scheduled', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
  attempt int NOT NULL DEFAULT 0,
  failures int NOT NULL DEFAULT 0,
  lapses int NOT NULL DEFAULT 0,
  max_attempts int NOT NULL CHECK (max_attempts >= 1),
  lease interval NOT NULL,
  claim_token uuid,
  worker uuid,
  lease_until timestamptz,
  cancel_asked boolean NOT NULL DEFAULT false,
  -- The quota's hold of the running attempt, when its kind spends.
  admission_id uuid,
  run_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  input jsonb NOT NULL,
  result jsonb,
  error text,
  CHECK ((state = 'running') = (claim_token IS NOT NULL)),
  CHECK ((state = 'running') = (lease_until IS NOT NULL)),
  CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX jobs_head ON jobs (team_id, pool, priority DESC, id) WHERE state = 'queued';
CREATE INDEX jobs_by_lease ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_due ON jobs (run_at) WHERE state = 'scheduled';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_of_team ON jobs (team_id, id DESC);
CALL wall_off('jobs');
GRANT SELECT, INSERT, UPDATE ON jobs TO atrium_app;
GRANT SELECT (id, org_id, team_id, user_id, kind, model, pool, priority, state, attempt, lease, claim_token, worker, lease_until,
              cancel_asked, run_at, created_at, started_at, finished_at), DELETE ON jobs TO atrium_system;
GRANT UPDATE (state, attempt, claim_token, worker, lease_until, started_at) ON jobs TO atrium_system;

-- Who is there to run which pools; bound to one company, or (null) to none. It belongs to the instance.
CREATE TABLE job_workers (
  id uuid PRIMARY KEY,
  bound_to uuid,
  pools text[] NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON job_workers TO atrium_system;

-- A job waits for a worker when nobody who may run it was seen for a minute; a company learns of its own and of everybody's.
CREATE FUNCTION served_pools() RETURNS text[]
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN (SELECT coalesce(array_agg(DISTINCT p.pool), '{}') FROM job_workers w CROSS JOIN unnest(w.pools) AS p (pool)
           WHERE w.seen_at > now() - interval '1 minute' AND (w.bound_to IS NULL OR w.bound_to = current_org()));

-- Gates. Triggers, so that nothing which changes a company, a team or a limit can leave its lanes behind.
CREATE FUNCTION job_lanes_follow() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE job_lanes SET open = NEW.open WHERE team_id = NEW.team_id AND open <> NEW.open;
  RETURN NULL;
END $$;
CREATE TRIGGER job_lanes_follow AFTER UPDATE ON job_teams
  FOR EACH ROW WHEN (OLD.open IS DISTINCT FROM NEW.open) EXECUTE FUNCTION job_lanes_follow();

CREATE FUNCTION job_team_cap(org uuid, team uuid) RETURNS int LANGUAGE sql STABLE
  RETURN coalesce((SELECT least(min(most), 1000000)::int FROM quota_limits
                    WHERE org_id = org AND scope_id = team AND dimension = 'jobs.concurrency'), 8);
CREATE FUNCTION job_org_cap(org uuid) RETURNS int LANGUAGE sql STABLE
  RETURN (SELECT least(min(most), 1000000)::int FROM quota_limits
           WHERE org_id = org AND scope_id = org AND dimension = 'jobs.concurrency');

CREATE FUNCTION job_org_born() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO job_orgs (org_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER job_org_born AFTER INSERT ON orgs FOR EACH ROW EXECUTE FUNCTION job_org_born();

-- The lock on the company's row makes a birth and a suspension wait for each other, so that neither misses the other.
CREATE FUNCTION job_team_born() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE company_open boolean; instance_open boolean;
BEGIN
  SELECT o.suspended_at IS NULL INTO company_open FROM orgs o WHERE o.id = NEW.org_id FOR SHARE;
  SELECT i.suspended_at IS NULL INTO instance_open FROM instance i FOR SHARE;
  INSERT INTO job_teams (team_id, org_id, cap, org_open)
  VALUES (NEW.id, NEW.org_id, job_team_cap(NEW.org_id, NEW.id), company_open AND coalesce(instance_open, true))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER job_team_born AFTER INSERT ON teams FOR EACH ROW EXECUTE FUNCTION job_team_born();

CREATE FUNCTION job_gate(company uuid) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM FROM job_teams t WHERE company IS NULL OR t.org_id = company ORDER BY t.team_id FOR NO KEY UPDATE;
  UPDATE job_teams t SET org_open = g.open
    FROM (SELECT o.id, o.suspended_at IS NULL
                 AND NOT EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL) AS open
            FROM orgs o WHERE company IS NULL OR o.id = company) g
   WHERE t.org_id = g.id AND t.org_open <> g.open;
  PERFORM pg_notify('atrium_jobs', '');
END $$;
CREATE FUNCTION job_gate_follows_org() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM job_gate(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER job_gate_follows_org AFTER UPDATE OF suspended_at ON orgs
  FOR EACH ROW WHEN ((OLD.suspended_at IS NULL) <> (NEW.suspended_at IS NULL)) EXECUTE FUNCTION job_gate_follows_org();
CREATE FUNCTION job_gate_follows_instance() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM job_gate(NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER job_gate_follows_instance AFTER UPDATE OF suspended_at ON instance
  FOR EACH ROW WHEN ((OLD.suspended_at IS NULL) <> (NEW.suspended_at IS NULL)) EXECUTE FUNCTION job_gate_follows_instance();

-- A changed limit: caps are taken over, and lanes that found their quota used up look again.
CREATE FUNCTION job_caps_follow() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE company uuid := coalesce(NEW.org_id, OLD.org_id); scope uuid := coalesce(NEW.scope_id, OLD.scope_id);
BEGIN
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
CREATE TRIGGER job_caps_follow AFTER INSERT OR UPDATE OR DELETE ON quota_limits FOR EACH ROW EXECUTE FUNCTION job_caps_follow();

-- What was there before the queue; the owner's own login may see none of it past the walls.
SET LOCAL ROLE atrium_system;
INSERT INTO job_orgs (org_id, cap) SELECT id, job_org_cap(id) FROM orgs;
INSERT INTO job_teams (team_id, org_id, cap, org_open)
SELECT t.id, t.org_id, job_team_cap(t.org_id, t.id),
       o.suspended_at IS NULL AND NOT EXISTS (SELECT FROM instance i WHERE i.suspended_at IS NOT NULL)
  FROM teams t JOIN orgs o ON o.id = t.org_id;
SET LOCAL ROLE NONE;

-- Claim up to `most` jobs of these pools, of every company or of one: cap, gate, fairness and priority in one call.
-- Teams take turns; inside a turn a team of weight n gets n jobs, the most urgent first.
CREATE FUNCTION claim_jobs(pools text[], worker_id uuid, most int, bound_to uuid) RETURNS TABLE (
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
                 WHERE l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL
                 ORDER BY l.turn LIMIT most - got FOR NO KEY UPDATE OF t SKIP LOCKED) l
               ORDER BY l.turn LIMIT most - got) x;
    ELSE
      SELECT array_agg(x.team_id), array_agg(x.pool) INTO lane_teams, lane_pools
        FROM (SELECT l.team_id, l.pool FROM unnest(pools) p (pool) CROSS JOIN LATERAL (
                SELECT l.team_id, l.pool, l.turn FROM job_lanes l JOIN job_teams t ON t.team_id = l.team_id
                 WHERE l.org_id = bound_to AND l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL
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

-- Give back the places of running jobs whose rows the caller holds; counted per team.
CREATE FUNCTION free_job_slots(company uuid, teams uuid[]) RETURNS void
  LANGUAGE plpgsql STRICT SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE capped boolean;
BEGIN
  PERFORM FROM job_teams t WHERE t.org_id = company AND t.team_id = ANY (teams) ORDER BY t.team_id FOR NO KEY UPDATE;
  UPDATE job_teams t SET running = t.running - s.n
    FROM (SELECT u.team_id, count(*)::int AS n FROM unnest(teams) u (team_id) GROUP BY u.team_id) s
   WHERE t.org_id = company AND t.team_id = s.team_id;
  UPDATE job_orgs SET running = running - cardinality(teams) WHERE org_id = company AND cap IS NOT NULL RETURNING true INTO capped;
  IF capped THEN
    -- A team that somebody holds right now is reopened by the next sweep.
    UPDATE job_teams t SET org_full = false
     WHERE t.org_id = company AND t.team_id IN (
       SELECT f.team_id FROM job_teams f WHERE f.org_id = company AND f.org_full ORDER BY f.team_id LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED);
  END IF;
END $$;

-- Settle attempts of one company: only the current token under a live lease counts, the others come back not at all.
-- An outcome is `succeeded`, `failed` (again after `again_in`, unless null or out of attempts) or `returned`, which is no attempt.
CREATE FUNCTION settle_jobs(company uuid, ids uuid[], tokens uuid[], outcomes text[], results text[], errors text[], again_in interval[])
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
                          WHEN j.cancel_asked THEN 'cancelled'
                          WHEN u.outcome = 'returned' THEN 'queued'
                          WHEN u.again_in IS NOT NULL AND j.failures + j.lapses + 1 < j.max_attempts THEN 'scheduled'
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
CREATE FUNCTION lapse_jobs(company uuid, ids uuid[])
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
      FROM (SELECT k.id, k.claim_token AS token, CASE WHEN k.cancel_asked THEN 'cancelled'
                              WHEN k.failures + k.lapses + 1 < k.max_attempts THEN 'queued' ELSE 'failed' END AS state
              FROM jobs k WHERE k.org_id = company AND k.id = ANY (held)) d
     WHERE j.org_id = company AND j.id = d.id
    RETURNING j.id, d.token, j.team_id, j.user_id, j.scope, j.kind, j.pool, j.state, j.attempt, j.admission_id;
END $$;

GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION served_pools() OWNER TO atrium_system;
ALTER FUNCTION job_lanes_follow() OWNER TO atrium_system;
ALTER FUNCTION job_org_born() OWNER TO atrium_system;
ALTER FUNCTION job_team_born() OWNER TO atrium_system;
ALTER FUNCTION job_gate(uuid) OWNER TO atrium_system;
ALTER FUNCTION job_gate_follows_org() OWNER TO atrium_system;
ALTER FUNCTION job_gate_follows_instance() OWNER TO atrium_system;
ALTER FUNCTION job_caps_follow() OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION served_pools(), job_lanes_follow(), job_org_born(), job_team_born(), job_gate(uuid), job_gate_follows_org(),
  job_gate_follows_instance(), job_caps_follow(), claim_jobs(text[], uuid, int, uuid), free_job_slots(uuid, uuid[]),
  settle_jobs(uuid, uuid[], uuid[], text[], text[], text[], interval[]), lapse_jobs(uuid, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION served_pools() TO atrium_app;
GRANT EXECUTE ON FUNCTION claim_jobs(text[], uuid, int, uuid) TO atrium_system;
GRANT EXECUTE ON FUNCTION free_job_slots(uuid, uuid[]), lapse_jobs(uuid, uuid[]),
  settle_jobs(uuid, uuid[], uuid[], text[], text[], text[], interval[]) TO atrium_app;
