-- owner: features
CREATE TABLE team_features (
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  PRIMARY KEY (team_id, name),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('team_features');
GRANT SELECT, INSERT, UPDATE, DELETE ON team_features TO atrium_app;
GRANT SELECT ON team_features TO atrium_system;
