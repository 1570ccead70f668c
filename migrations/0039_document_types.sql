-- owner: repository
-- Documents were written with a parameter that their type does not need; whoever compares types had to know. What people uploaded
-- keeps the type they gave it.
ALTER TABLE object_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE objects NO FORCE ROW LEVEL SECURITY;
UPDATE object_versions v SET content_type = 'text/markdown' FROM objects o
 WHERE o.org_id = v.org_id AND o.id = v.object_id AND o.key LIKE 'documents/%'
   AND v.content_type = 'text/markdown; charset=utf-8' AND v.metadata ? 'title';
ALTER TABLE objects FORCE ROW LEVEL SECURITY;
ALTER TABLE object_versions FORCE ROW LEVEL SECURITY;
