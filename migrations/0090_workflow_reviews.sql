-- owner: workflows
-- Which versions of other people's workflows somebody has looked at before starting them, by what stands for the version.
CREATE TABLE workflow_reviews (
  team_id uuid NOT NULL,
  slug text COLLATE "C" NOT NULL,
  user_id uuid NOT NULL,
  digest text COLLATE "C" NOT NULL,
  org_id uuid NOT NULL,
  accepted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team_id, slug, user_id, digest),
  FOREIGN KEY (org_id, team_id, slug) REFERENCES workflows (org_id, team_id, slug) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CALL wall_off('workflow_reviews');
GRANT SELECT, INSERT ON workflow_reviews TO atrium_app;
