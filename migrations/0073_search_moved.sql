-- owner: search
-- Objects of a large folder that was moved: who finds them and below which key is written with the move, their words are read again soon
-- after it, so that the move itself is short.
CREATE TABLE search_moved (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (org_id, id)
);
CALL wall_off('search_moved');
GRANT SELECT, INSERT, DELETE ON search_moved TO atrium_app;
GRANT SELECT ON search_moved TO atrium_system;
