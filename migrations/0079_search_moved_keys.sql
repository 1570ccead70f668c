-- owner: search
-- Giving a row of the index another key makes PostgreSQL index all its words anew: most of what moving a large folder took. Those rows now
-- wait as they are until their words are read again, and the key below which a search finds them meanwhile is kept here.
ALTER TABLE search_moved ADD COLUMN key text COLLATE "C";
GRANT UPDATE (key) ON search_moved TO atrium_app;
REVOKE SELECT ON search_moved FROM atrium_system;
GRANT SELECT (org_id, id) ON search_moved TO atrium_system;
GRANT SELECT (org_id, id, key) ON search_moved TO atrium_search;
CREATE POLICY search_open ON search_moved FOR SELECT TO atrium_search USING (true);
