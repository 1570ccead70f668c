-- owner: ai
-- A turn is one question to a model, its reply as it is said, and how it ended; the question itself is not kept. A turn belongs to the
-- process that asks the model, and outlives the connection that asked for it: its pieces are stored once a second, so that any process
-- can go on telling it.

-- Which processes are asking models, and since when each was seen without a gap. One whose time stands still has died, and its turns
-- are settled by the others.
CREATE TABLE turn_processes (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  steady_since timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON turn_processes TO atrium_system;

CREATE TABLE turns (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  user_id uuid NOT NULL,
  process_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'stopped', 'failed', 'interrupted')),
  executor text NOT NULL,
  model text,
  simulated boolean NOT NULL,
  -- The object that keeps the conversation, when there is one.
  conversation_id uuid,
  -- The quota's hold, and what the question was estimated to cost of it.
  admission_id uuid NOT NULL,
  reserved_tokens bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  -- The Idempotency-Key it was asked with, and a digest of that request.
  key text,
  request bytea,
  stop_asked boolean NOT NULL DEFAULT false,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- The last event, without its text.
  ending jsonb,
  CHECK ((state = 'running') = (ended_at IS NULL)),
  CHECK ((state = 'running') = (ending IS NULL)),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX turns_by_key ON turns (user_id, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX turns_of_conversation ON turns (conversation_id) WHERE state = 'running' AND conversation_id IS NOT NULL;
CREATE INDEX turns_of_process ON turns (process_id) WHERE state = 'running';
CREATE INDEX turns_ended ON turns (ended_at) WHERE ended_at IS NOT NULL;
CALL wall_off('turns');
GRANT SELECT, INSERT, UPDATE ON turns TO atrium_app;
GRANT SELECT (id, org_id, process_id, state, stop_asked, ended_at), DELETE ON turns TO atrium_system;

-- What was said from one position on, counted in characters. A process stores the pieces of all its turns in one statement, whichever
-- companies they are of: the system role may add them and delete them by their turn, and reads no word of them. There is no foreign
-- key, so that nothing wrong with one turn keeps the others' pieces from being stored.
CREATE TABLE turn_pieces (
  turn_id uuid NOT NULL,
  at int NOT NULL,
  org_id uuid NOT NULL,
  thinking boolean NOT NULL,
  body text NOT NULL,
  -- Pieces the model had sent by then, and what it had told of its tokens, if it tells that as it goes.
  pieces int NOT NULL,
  prompt_told bigint,
  reply_told bigint,
  PRIMARY KEY (turn_id, at)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.5);
CALL wall_off('turn_pieces');
GRANT SELECT, INSERT ON turn_pieces TO atrium_app;
GRANT SELECT (turn_id), INSERT, DELETE ON turn_pieces TO atrium_system;
