-- owner: search
-- transaction: none
-- Words that are nearly everywhere are looked for from the newest row on. These find the newest rows of a team and of a person, and the
-- rows that somebody else was let into, without passing by rows of others.
DROP INDEX CONCURRENTLY IF EXISTS search_rows_of_team;
-- next
CREATE INDEX CONCURRENTLY search_rows_of_team ON search_rows (team_id, updated_at DESC, id DESC) WHERE visibility = 'team';
-- next
DROP INDEX CONCURRENTLY IF EXISTS search_rows_of_owner;
-- next
CREATE INDEX CONCURRENTLY search_rows_of_owner ON search_rows (owner_id, updated_at DESC, id DESC);
-- next
DROP INDEX CONCURRENTLY IF EXISTS search_rows_granted;
-- next
CREATE INDEX CONCURRENTLY search_rows_granted ON search_rows USING gin (readers)
  WHERE cardinality(readers) > CASE visibility WHEN 'team' THEN 3 ELSE 1 END;
