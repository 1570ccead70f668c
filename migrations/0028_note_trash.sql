-- owner: notes
-- A deleted note waits in the trash with its id, grants and versions. Every index of a listing holds only what is not there, so
-- that no listing walks past what was deleted; the grants repeat `trashed_at` for theirs.
ALTER TABLE notes
  ADD COLUMN updated_by uuid,
  ADD COLUMN trashed_at timestamptz,
  ADD COLUMN trashed_by uuid,
  ADD CHECK ((trashed_at IS NULL) = (trashed_by IS NULL));
DROP INDEX notes_of_owner, notes_of_team, notes_of_org;
CREATE INDEX notes_of_owner ON notes (org_id, owner_id, updated_at DESC, id DESC) WHERE trashed_at IS NULL;
CREATE INDEX notes_of_team ON notes (org_id, team_id, updated_at DESC, id DESC)
  WHERE visibility = 'team' AND trashed_at IS NULL;
CREATE INDEX notes_of_org ON notes (org_id, updated_at DESC, id DESC) WHERE visibility = 'team' AND trashed_at IS NULL;
CREATE INDEX trashed_notes_of_owner ON notes (org_id, owner_id, trashed_at DESC, id DESC) WHERE trashed_at IS NOT NULL;
CREATE INDEX trashed_notes_of_team ON notes (org_id, team_id, trashed_at DESC, id DESC)
  WHERE visibility = 'team' AND trashed_at IS NOT NULL;
CREATE INDEX trashed_notes_by_deleter ON notes (org_id, trashed_by, trashed_at, id) WHERE trashed_at IS NOT NULL;
CREATE INDEX trashed_notes_by_age ON notes (trashed_at, id) WHERE trashed_at IS NOT NULL;
GRANT SELECT (trashed_at) ON notes TO atrium_system;

ALTER TABLE note_grants ADD COLUMN trashed_at timestamptz;
CREATE INDEX note_grants_of_user ON note_grants (user_id, note_id) WHERE trashed_at IS NULL;
CREATE INDEX trashed_note_grants_of_user ON note_grants (user_id, trashed_at DESC, note_id DESC)
  WHERE permission = 'notes:manage' AND trashed_at IS NOT NULL;
DROP INDEX note_grants_by_note;
CREATE INDEX note_grants_by_note ON note_grants (note_id, created_at, user_id);

-- The texts a note had before. The one it has is in the note itself: its number is the note's version, and it moves here in the
-- statement that replaces it.
CREATE TABLE note_versions (
  org_id uuid NOT NULL,
  note_id uuid NOT NULL,
  number int NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  size int NOT NULL,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  created_by uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (note_id, number),
  FOREIGN KEY (org_id, note_id) REFERENCES notes (org_id, id) ON DELETE CASCADE
);
CALL wall_off('note_versions');
GRANT SELECT, INSERT ON note_versions TO atrium_app;
