-- owner: audit
-- The keys that tie the chains' links, sealed under the instance's own: whoever can write to the database and nothing else
-- cannot make a link. Older ones stay, so that what they tied can be checked.
CREATE TABLE audit_keys (
  id bytea PRIMARY KEY CHECK (length(id) = 4),
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE (sealed) ON audit_keys TO atrium_system;

-- A chain's end is signed by itself: without the key it can be neither moved nor set back. One of before has no signature
-- until its chain goes on; a process of before that is still running cannot move one that has.
ALTER TABLE audit_heads ADD signature bytea, ADD CHECK ((length(hash) > 32) = (signature IS NOT NULL));
