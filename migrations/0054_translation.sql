-- owner: translation
-- A translation is kept for the person who asked for it, with what it was made from and what became of each block; it is forgotten after
-- SERVICE_TRANSLATION_RETENTION_DAYS.
CREATE TABLE translations (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  user_id uuid NOT NULL,
  source text NOT NULL,
  target text NOT NULL,
  format text NOT NULL CHECK (format IN ('text', 'markdown', 'html', 'icu')),
  original text NOT NULL,
  text text NOT NULL,
  report jsonb NOT NULL,
  usage jsonb NOT NULL,
  model text,
  simulated boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE INDEX translations_of_person ON translations (org_id, user_id, created_at DESC, id DESC);
CREATE INDEX translations_by_target ON translations (org_id, user_id, target, created_at DESC, id DESC);
CREATE INDEX translations_by_age ON translations (created_at);
CALL wall_off('translations');
GRANT SELECT, INSERT, DELETE ON translations TO atrium_app;
GRANT SELECT (id, created_at), DELETE ON translations TO atrium_system;

-- How a team wants a term translated into one language; no translation keeps the term as it is.
CREATE TABLE glossary_terms (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  target text NOT NULL,
  term text NOT NULL,
  translation text,
  note text NOT NULL DEFAULT '',
  case_sensitive boolean NOT NULL DEFAULT false,
  changed_by uuid NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, changed_by) REFERENCES users (org_id, id),
  UNIQUE (team_id, target, term)
);
CREATE INDEX glossary_terms_of_team ON glossary_terms (org_id, team_id, term, id);
CREATE INDEX glossary_terms_by_target ON glossary_terms (org_id, team_id, target, term, id);
CALL wall_off('glossary_terms');
GRANT SELECT, INSERT, UPDATE, DELETE ON glossary_terms TO atrium_app;
