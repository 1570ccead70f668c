-- owner: knowledge
-- The knowledge graph as contributions: what the current version of each object says about entities. Nothing here says who may read
-- it; every statement joins the objects that its reader can read at that moment.

-- The objects that a reader may know of, one branch for each way, each over an index of the listings; no object comes twice. It is the
-- rule of the repository (READABLE in its store) as a relation; a test compares the two. PostgreSQL plans it as part of the statement
-- that asks, so that it begins at the reader's objects or at an entity's mentions, whichever are fewer.
CREATE FUNCTION readable_objects(company uuid, team uuid, person uuid, principals uuid[], by_role boolean, org_wide boolean)
RETURNS TABLE (id uuid, team_id uuid, owner_id uuid, visibility text, key text, version_id uuid) LANGUAGE sql STABLE AS $$
  SELECT o.id, o.team_id, o.owner_id, o.visibility, o.key, o.version_id FROM objects o
   WHERE o.org_id = company AND o.owner_id = person AND NOT o.deleted AND o.trashed_at IS NULL
  UNION ALL
  SELECT o.id, o.team_id, o.owner_id, o.visibility, o.key, o.version_id FROM objects o
   WHERE by_role AND o.org_id = company AND o.team_id = team AND o.visibility = 'team' AND NOT o.deleted AND o.trashed_at IS NULL
     AND o.owner_id <> person
  UNION ALL
  SELECT o.id, o.team_id, o.owner_id, o.visibility, o.key, o.version_id FROM objects o
   WHERE org_wide AND o.org_id = company AND o.visibility = 'team' AND NOT o.deleted AND o.trashed_at IS NULL
     AND octet_length(o.key) > 0 AND o.owner_id <> person AND NOT (by_role AND o.team_id = team)
  UNION ALL
  SELECT o.id, o.team_id, o.owner_id, o.visibility, o.key, o.version_id FROM (
    SELECT DISTINCT g.object_id FROM object_grants g
     WHERE g.org_id = company AND g.principal_id = ANY(principals) AND g.trashed_at IS NULL
       AND (g.expires_at IS NULL OR g.expires_at > now())
  ) AS granted JOIN objects o ON o.org_id = company AND o.id = granted.object_id
   WHERE NOT o.deleted AND o.trashed_at IS NULL AND o.owner_id <> person
     AND NOT (o.visibility = 'team' AND (org_wide OR (by_role AND o.team_id = team)))
$$;
REVOKE ALL ON FUNCTION readable_objects(uuid, uuid, uuid, uuid[], boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION readable_objects(uuid, uuid, uuid, uuid[], boolean, boolean) TO atrium_app;

-- An entity's id is a digest of its type and normalised name with its team's salt: the same for every document of the team, and not to
-- be computed by a reader who guesses a name.
CREATE TABLE knowledge_salts (
  team_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  salt uuid NOT NULL DEFAULT gen_random_uuid(),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('knowledge_salts');
GRANT SELECT, INSERT ON knowledge_salts TO atrium_app;

-- Which version of an object was read last; it counts while it is the current one.
CREATE TABLE knowledge_shares (
  object_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  version_id uuid NOT NULL,
  entities int NOT NULL,
  relations int NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, object_id),
  FOREIGN KEY (org_id, object_id) REFERENCES objects (org_id, id) ON DELETE CASCADE
);
CALL wall_off('knowledge_shares');
GRANT SELECT, INSERT, DELETE ON knowledge_shares TO atrium_app;

CREATE TABLE knowledge_mentions (
  object_id uuid NOT NULL,
  entity_id uuid NOT NULL,
  at int NOT NULL CHECK (at >= 0),
  org_id uuid NOT NULL,
  version_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL
    CHECK (type IN ('person', 'organisation', 'place', 'product', 'project', 'event', 'document', 'concept')),
  name text COLLATE "C" NOT NULL,
  folded text COLLATE "C" NOT NULL,
  quote text NOT NULL,
  PRIMARY KEY (object_id, entity_id, at),
  FOREIGN KEY (org_id, object_id) REFERENCES knowledge_shares (org_id, object_id) ON DELETE CASCADE
);
CREATE INDEX knowledge_mentions_of_entity ON knowledge_mentions (entity_id, object_id);
CALL wall_off('knowledge_mentions');
GRANT SELECT, INSERT ON knowledge_mentions TO atrium_app;

CREATE TABLE knowledge_relations (
  object_id uuid NOT NULL,
  from_id uuid NOT NULL,
  to_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL,
  at int NOT NULL CHECK (at >= 0),
  org_id uuid NOT NULL,
  version_id uuid NOT NULL,
  quote text NOT NULL,
  PRIMARY KEY (object_id, from_id, to_id, type, at),
  CHECK (from_id <> to_id),
  FOREIGN KEY (org_id, object_id) REFERENCES knowledge_shares (org_id, object_id) ON DELETE CASCADE
);
CREATE INDEX knowledge_relations_from ON knowledge_relations (from_id, object_id);
CREATE INDEX knowledge_relations_to ON knowledge_relations (to_id, object_id);
CALL wall_off('knowledge_relations');
GRANT SELECT, INSERT ON knowledge_relations TO atrium_app;

-- How often a model's reply about the current version was refused, and what for.
CREATE TABLE knowledge_refusals (
  object_id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  version_id uuid NOT NULL,
  refusals int NOT NULL,
  FOREIGN KEY (org_id, object_id) REFERENCES objects (org_id, id) ON DELETE CASCADE
);
CALL wall_off('knowledge_refusals');
GRANT SELECT, INSERT, UPDATE, DELETE ON knowledge_refusals TO atrium_app;

-- What people said is one: a forest, in which an entity is dropped into one other at most. `head_id` is the root above it.
CREATE TABLE knowledge_merges (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  keep_id uuid NOT NULL,
  drop_id uuid NOT NULL,
  head_id uuid NOT NULL,
  merged_by uuid,
  merged_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (drop_id),
  CHECK (keep_id <> drop_id AND head_id <> drop_id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, merged_by) REFERENCES users (org_id, id) ON DELETE SET NULL (merged_by)
);
CREATE INDEX knowledge_merges_of_head ON knowledge_merges (head_id);
CREATE INDEX knowledge_merges_of_keep ON knowledge_merges (keep_id);
CALL wall_off('knowledge_merges');
GRANT SELECT, INSERT, UPDATE, DELETE ON knowledge_merges TO atrium_app;
