-- owner: workflows
-- What runs were given, read or wrote is of several kinds; the last release notes objects alone and goes on doing so.
ALTER TABLE run_objects ADD COLUMN kind text NOT NULL DEFAULT 'object';
