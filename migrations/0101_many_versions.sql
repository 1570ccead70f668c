-- owner: workflows
-- transaction: none
-- Which companies may have versions of workflows that nothing names any more: those with more than are kept in any case.
DROP INDEX CONCURRENTLY IF EXISTS workflows_of_many_versions;
-- next
CREATE INDEX CONCURRENTLY workflows_of_many_versions ON workflows (org_id) WHERE version > 200;
-- next
-- Whether a run names a version.
DROP INDEX CONCURRENTLY IF EXISTS runs_of_version;
-- next
CREATE INDEX CONCURRENTLY runs_of_version ON runs (team_id, slug, version);
