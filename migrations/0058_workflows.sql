-- owner: workflows
-- Workflows and their runs. A version of a workflow never changes, so a run refers to its spec. Every step, item of a map and choice is one
-- job; a run advances in the transaction that settles it.
-- Locks: jobs, then their teams (both in the queue), then runs in the order of ids.

CREATE TABLE workflows (
  team_id uuid NOT NULL,
  slug text COLLATE "C" NOT NULL,
  org_id uuid NOT NULL,
  -- The newest one.
  version int NOT NULL CHECK (version >= 1),
  -- `team`, or `plugin:<id>` as long as the team has not published its own.
  source text NOT NULL,
  -- Of the plugin's spec that was looked at last; another one of the plugin is offered, or taken over where the plugin is the source.
  plugin_digest bytea,
  PRIMARY KEY (team_id, slug),
  UNIQUE (org_id, team_id, slug),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('workflows');
GRANT SELECT, INSERT, UPDATE ON workflows TO atrium_app;

CREATE TABLE workflow_versions (
  team_id uuid NOT NULL,
  slug text COLLATE "C" NOT NULL,
  version int NOT NULL CHECK (version >= 1),
  org_id uuid NOT NULL,
  spec jsonb NOT NULL,
  -- Null when it came with a plugin.
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team_id, slug, version),
  FOREIGN KEY (org_id, team_id, slug) REFERENCES workflows (org_id, team_id, slug) ON DELETE CASCADE,
  FOREIGN KEY (org_id, created_by) REFERENCES users (org_id, id) ON DELETE SET NULL (created_by)
);
CALL wall_off('workflow_versions');
GRANT SELECT, INSERT ON workflow_versions TO atrium_app;

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  -- Who started it: its steps act as this person, within the scope of the credential of then (the jobs have it).
  user_id uuid NOT NULL,
  slug text COLLATE "C" NOT NULL,
  version int NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'succeeded', 'failed', 'cancelled')),
  locale text NOT NULL,
  input jsonb NOT NULL,
  -- What the spec makes of the steps' outputs; where it does not say, the output of the step named here.
  output jsonb,
  output_step text,
  -- {code, message, step}
  error jsonb,
  -- The trigger that started it, all triggers that it descends from, and how many runs are between it and the first.
  trigger_id uuid,
  ancestry uuid[] NOT NULL DEFAULT '{}',
  depth int NOT NULL DEFAULT 0,
  resumed_from uuid,
  resumed_step text,
  steps_used int NOT NULL DEFAULT 0,
  max_steps int NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  UNIQUE (org_id, id),
  CHECK ((state = 'running') = (finished_at IS NULL)),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX runs_of_team ON runs (team_id, state, id);
CREATE INDEX runs_of_workflow ON runs (team_id, slug, state, id);
CREATE INDEX runs_of_person ON runs (team_id, user_id, state, id);
CREATE INDEX runs_of_trigger ON runs (trigger_id, state, id) WHERE trigger_id IS NOT NULL;
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at IS NOT NULL;
CALL wall_off('runs');
GRANT SELECT, INSERT, UPDATE ON runs TO atrium_app;
GRANT SELECT (id, finished_at), DELETE ON runs TO atrium_system;

-- A step that a run has entered (`place` is -1), and each item of a map (from 0).
CREATE TABLE run_steps (
  run_id uuid NOT NULL,
  step text COLLATE "C" NOT NULL,
  place int NOT NULL DEFAULT -1 CHECK (place >= -1),
  org_id uuid NOT NULL,
  -- The order in which the run came to its steps.
  position int NOT NULL,
  kind text NOT NULL CHECK (kind IN ('tool', 'map', 'choice')),
  tool text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'succeeded', 'failed', 'cancelled')),
  job_id uuid,
  -- Bound arguments, or what a map goes over; the item of a map; what came out; {code, message}.
  input jsonb,
  item jsonb,
  output jsonb,
  error jsonb,
  -- Whether `output` was kept in the transaction of the step's effect: a later attempt takes it instead of running again.
  kept boolean NOT NULL DEFAULT false,
  -- The attempt that began something whose end another transaction would have seen.
  begun int,
  -- Attempts that failed: [{attempt, code, message, at}].
  failures jsonb NOT NULL DEFAULT '[]',
  -- Why its job was put off.
  waiting text,
  -- Of a map: how many items have not ended.
  pending int,
  -- What its attempts spent, by dimension.
  usage jsonb NOT NULL DEFAULT '{}',
  reused_from uuid,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (run_id, step, place),
  FOREIGN KEY (org_id, run_id) REFERENCES runs (org_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
CALL wall_off('run_steps');
GRANT SELECT, INSERT, UPDATE ON run_steps TO atrium_app;

-- Objects that a run was given, read or wrote.
CREATE TABLE run_objects (
  run_id uuid NOT NULL,
  object_id uuid NOT NULL,
  org_id uuid NOT NULL,
  PRIMARY KEY (run_id, object_id),
  FOREIGN KEY (org_id, run_id) REFERENCES runs (org_id, id) ON DELETE CASCADE
);
CREATE INDEX run_objects_of_object ON run_objects (object_id, run_id);
CALL wall_off('run_objects');
GRANT SELECT, INSERT ON run_objects TO atrium_app;
