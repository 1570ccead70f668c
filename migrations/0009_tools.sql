-- owner: tools
CREATE TABLE tool_switches (
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  PRIMARY KEY (team_id, name),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('tool_switches');
GRANT SELECT, INSERT, UPDATE, DELETE ON tool_switches TO atrium_app;
