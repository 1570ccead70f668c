-- owner: triggers
-- Upload triggers and what became of each: a version that matches one starts its workflow, or leaves the reason why not, in the
-- transaction that writes the version.
CREATE TABLE doc_triggers (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  name text NOT NULL,
  workflow_slug text COLLATE "C" NOT NULL,
  match_prefix text COLLATE "C" NOT NULL CHECK (octet_length(match_prefix) <= 1024),
  match_types text[] NOT NULL,
  input jsonb NOT NULL,
  fire_on_derived boolean NOT NULL,
  enabled boolean NOT NULL,
  created_by uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, created_by) REFERENCES users (org_id, id) ON DELETE SET NULL (created_by)
);
CREATE INDEX doc_triggers_of_team ON doc_triggers (team_id, id);
CALL wall_off('doc_triggers');
GRANT SELECT, INSERT, UPDATE, DELETE ON doc_triggers TO atrium_app;

-- What a trigger matches, a row for each of its types ('' for all types): the first columns of the key find a version's triggers.
CREATE TABLE trigger_matches (
  team_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  trigger_id uuid NOT NULL,
  org_id uuid NOT NULL,
  PRIMARY KEY (team_id, type, prefix, trigger_id),
  FOREIGN KEY (org_id, trigger_id) REFERENCES doc_triggers (org_id, id) ON DELETE CASCADE
);
CREATE INDEX trigger_matches_of_trigger ON trigger_matches (trigger_id);
CALL wall_off('trigger_matches');
GRANT SELECT, INSERT, DELETE ON trigger_matches TO atrium_app;

-- A version that matched: the run that it started, or why it started none. Objects, versions and runs may be gone earlier.
CREATE TABLE trigger_fires (
  trigger_id uuid NOT NULL,
  id uuid NOT NULL,
  org_id uuid NOT NULL,
  object_id uuid NOT NULL,
  version_id uuid NOT NULL,
  number int NOT NULL,
  user_id uuid NOT NULL,
  run_id uuid,
  reason text,
  -- Of the statement, not of the transaction: one that waited for another version of the object comes after it.
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (trigger_id, id),
  UNIQUE (trigger_id, version_id),
  CHECK ((run_id IS NULL) = (reason IS NOT NULL)),
  FOREIGN KEY (org_id, trigger_id) REFERENCES doc_triggers (org_id, id) ON DELETE CASCADE
);
CREATE INDEX trigger_fires_of_object ON trigger_fires (trigger_id, object_id, at) WHERE run_id IS NOT NULL;
CREATE INDEX trigger_fires_fired ON trigger_fires (trigger_id, at) WHERE run_id IS NOT NULL;
CREATE INDEX trigger_fires_skipped ON trigger_fires (trigger_id, at) WHERE run_id IS NULL;
CREATE INDEX trigger_fires_by_age ON trigger_fires (at);
CALL wall_off('trigger_fires');
GRANT SELECT, INSERT ON trigger_fires TO atrium_app;
GRANT SELECT (trigger_id, id, at), DELETE ON trigger_fires TO atrium_system;

-- The triggers of a team whose prefix this key begins with, for any of these types. It walks down the prefixes at or before the key: one
-- that the key does not begin with rules out all that are longer than what the two have in common. So the triggers that do not
-- match cost nothing, unless they begin like the key.
CREATE FUNCTION matching_triggers(company uuid, team uuid, key text, types text[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_sort = off SET jit = off AS $$
DECLARE
  kind text;
  rest text COLLATE "C";
  near text COLLATE "C";
  least int;
  most int;
BEGIN
  FOREACH kind IN ARRAY types LOOP
    rest := key;
    LOOP
      SELECT m.prefix INTO near FROM trigger_matches m
       WHERE m.org_id = company AND m.team_id = team AND m.type = kind AND m.prefix <= rest ORDER BY m.prefix DESC LIMIT 1;
      EXIT WHEN NOT FOUND;
      IF starts_with(key, near) THEN
        RETURN QUERY SELECT m.trigger_id FROM trigger_matches m
                      WHERE m.org_id = company AND m.team_id = team AND m.type = kind AND m.prefix = near;
        EXIT WHEN near = '';
        rest := left(near, -1);
      ELSE
        least := 0;
        most := length(rest) - 1;
        WHILE least < most LOOP
          IF left(near, (least + most + 1) / 2) = left(key, (least + most + 1) / 2) THEN
            least := (least + most + 1) / 2;
          ELSE
            most := (least + most + 1) / 2 - 1;
          END IF;
        END LOOP;
        rest := left(key, least);
      END IF;
    END LOOP;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION matching_triggers(uuid, uuid, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_triggers(uuid, uuid, text, text[]) TO atrium_app;
