-- owner: workflows
-- How many bytes a step's values have as JSON: what PostgreSQL keeps is compressed and says little about it. Null for earlier rows.
ALTER TABLE run_steps ADD COLUMN value_bytes integer;
