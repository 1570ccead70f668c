-- owner: ai
-- The agent: a run is a turn that asks a model several times and calls tools in between.

-- A piece that is no words is an event: a call of a tool, or its result, as JSON.
ALTER TABLE turn_pieces ADD COLUMN event text CHECK (event IN ('tool_call', 'tool_result'));

-- What it takes to go on with a run: how it began, what it has used, and which words of others it has read. Its turn has the rest, and
-- takes it along when it is forgotten.
ALTER TABLE turns ADD UNIQUE (org_id, id);
CREATE TABLE agent_runs (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- `running` until the run comes to its end, also while no process works on it; `waiting` for a person's decisions.
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'waiting', 'ended')),
  -- The question as it was asked, the messages that the first turn began with, and the names of the tools it was given.
  question jsonb NOT NULL,
  opening jsonb NOT NULL,
  tools text[] NOT NULL,
  -- Where it read what others wrote: [{source, words}]. Not empty means tainted.
  taint jsonb NOT NULL DEFAULT '[]',
  steps int NOT NULL DEFAULT 0,
  prompt_tokens bigint NOT NULL DEFAULT 0,
  reply_tokens bigint NOT NULL DEFAULT 0,
  exact boolean NOT NULL DEFAULT true,
  -- The question that a model is answering right now: its hold, what of it the question was estimated to cost, and where the answer begins.
  step_admission_id uuid,
  step_reserved bigint NOT NULL DEFAULT 0,
  step_prompt bigint NOT NULL DEFAULT 0,
  step_at int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, id) REFERENCES turns (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CALL wall_off('agent_runs');
GRANT SELECT, INSERT, UPDATE ON agent_runs TO atrium_app;

-- A call is written down before it runs. `said` is what the model said before its calls, at the first call of each step.
CREATE TABLE agent_calls (
  run_id uuid NOT NULL,
  number int NOT NULL,
  org_id uuid NOT NULL,
  step int NOT NULL,
  said text NOT NULL DEFAULT '',
  name text NOT NULL,
  arguments jsonb NOT NULL,
  effect text NOT NULL CHECK (effect IN ('read', 'write', 'egress')),
  -- Of the tool as it was offered and these arguments; what is approved is exactly this.
  digest bytea NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'running', 'ok', 'denied', 'bad_arguments',
    'needs_approval', 'rejected', 'timeout', 'error', 'budget', 'unknown')),
  result text NOT NULL DEFAULT '',
  artifact jsonb,
  PRIMARY KEY (run_id, number),
  FOREIGN KEY (org_id, run_id) REFERENCES agent_runs (org_id, id) ON DELETE CASCADE
);
CALL wall_off('agent_calls');
GRANT SELECT, INSERT, UPDATE ON agent_calls TO atrium_app;
