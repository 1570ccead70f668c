-- owner: repository
-- transaction: none
-- Listings of everything by time and by size; a folder is read by its keys and sorted. As in the listings by key, what is behind a delete
-- marker or in the trash is in none of these, and the condition on the key names the indexes of the whole company (migration 0016).
DROP INDEX CONCURRENTLY IF EXISTS objects_of_owner_by_time;
-- next
CREATE INDEX CONCURRENTLY objects_of_owner_by_time ON objects (owner_id, updated_at, id) WHERE NOT deleted AND trashed_at IS NULL;
-- next
DROP INDEX CONCURRENTLY IF EXISTS objects_of_team_by_time;
-- next
CREATE INDEX CONCURRENTLY objects_of_team_by_time ON objects (team_id, updated_at, id)
  WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL;
-- next
DROP INDEX CONCURRENTLY IF EXISTS objects_of_org_by_time;
-- next
CREATE INDEX CONCURRENTLY objects_of_org_by_time ON objects (org_id, updated_at, id)
  WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL AND octet_length(key) > 0;
-- next
DROP INDEX CONCURRENTLY IF EXISTS objects_of_owner_by_size;
-- next
CREATE INDEX CONCURRENTLY objects_of_owner_by_size ON objects (owner_id, size, id) WHERE NOT deleted AND trashed_at IS NULL;
-- next
DROP INDEX CONCURRENTLY IF EXISTS objects_of_team_by_size;
-- next
CREATE INDEX CONCURRENTLY objects_of_team_by_size ON objects (team_id, size, id)
  WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL;
-- next
DROP INDEX CONCURRENTLY IF EXISTS objects_of_org_by_size;
-- next
CREATE INDEX CONCURRENTLY objects_of_org_by_size ON objects (org_id, size, id)
  WHERE visibility = 'team' AND NOT deleted AND trashed_at IS NULL AND octet_length(key) > 0;
