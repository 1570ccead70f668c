-- owner: quotas
-- What a transaction used, noted beside its other rows without waiting for the company's books: the next round over the books
-- enters it. Until then its hold stands, so a limit is never passed; a note without a hold counts what nobody reserved.
CREATE TABLE quota_entries (
  id uuid NOT NULL,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  hold_id uuid,
  amounts jsonb NOT NULL,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id) ON DELETE CASCADE
);
CALL wall_off('quota_entries');
GRANT SELECT, INSERT, DELETE ON quota_entries TO atrium_app;
GRANT SELECT ON quota_entries TO atrium_system;
-- Operators see a company's use with its notes entered, which needs what their holds had reserved.
GRANT SELECT (team_id, amounts) ON quota_holds TO atrium_system;
