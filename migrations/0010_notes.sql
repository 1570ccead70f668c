-- owner: notes
CREATE TABLE notes (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL,
  team_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  visibility text NOT NULL CHECK (visibility IN ('private', 'team')),
  version int NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, team_id) REFERENCES teams (org_id, id),
  FOREIGN KEY (org_id, owner_id) REFERENCES users (org_id, id)
);
-- One index per way a note can be readable, each in listing order: no listing walks past rows of other people.
CREATE INDEX notes_of_owner ON notes (owner_id, updated_at DESC, id DESC);
CREATE INDEX notes_of_team ON notes (team_id, updated_at DESC, id DESC) WHERE visibility = 'team';
CREATE INDEX notes_of_org ON notes (org_id, updated_at DESC, id DESC) WHERE visibility = 'team';
CALL wall_off('notes');
GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO atrium_app;
GRANT SELECT (id, org_id) ON notes TO atrium_system;

CREATE TABLE note_grants (
  org_id uuid NOT NULL,
  note_id uuid NOT NULL,
  user_id uuid NOT NULL,
  permission text NOT NULL CHECK (permission IN ('notes:read', 'notes:write', 'notes:delete', 'notes:manage')),
  granted_by uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, note_id),
  FOREIGN KEY (org_id, note_id) REFERENCES notes (org_id, id) ON DELETE CASCADE,
  FOREIGN KEY (org_id, user_id) REFERENCES users (org_id, id) ON DELETE CASCADE
);
CREATE INDEX note_grants_by_note ON note_grants (note_id);
CALL wall_off('note_grants');
GRANT SELECT, INSERT, UPDATE, DELETE ON note_grants TO atrium_app;
