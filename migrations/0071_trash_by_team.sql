-- owner: repository
-- transaction: none
-- A write that needs space takes it from its team's trash, oldest first.
DROP INDEX CONCURRENTLY IF EXISTS trashed_objects_of_team_by_age;
-- next
CREATE INDEX CONCURRENTLY trashed_objects_of_team_by_age ON objects (team_id, trashed_at, id) WHERE trashed_at IS NOT NULL;
