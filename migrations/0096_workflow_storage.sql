-- owner: workflows
-- Versions of workflows, and what runs and their steps were given and made, count as storage. Steps go with their run by their foreign key,
-- when the run can no longer be asked whose they were: so each says which team's it is.
ALTER TABLE workflow_versions ADD COLUMN kept_bytes bigint;
ALTER TABLE runs ADD COLUMN kept_bytes bigint;
ALTER TABLE run_steps ADD COLUMN kept_bytes bigint, ADD COLUMN team_id uuid;
-- Versions that nothing names any more are removed; which companies may have any is seen from outside, nothing else.
GRANT UPDATE (kept_bytes), DELETE ON workflow_versions TO atrium_app;
GRANT SELECT (org_id, version) ON workflows TO atrium_system;
-- Runs of a company that is leaving are not forgotten.
GRANT SELECT (org_id) ON runs TO atrium_system;

CREATE FUNCTION size_workflow_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.kept_bytes := octet_length(NEW.spec::text);
  RETURN NEW;
END $$;
CREATE FUNCTION size_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'end' THEN
    NEW.kept_bytes := OLD.kept_bytes + octet_length(concat(NEW.output, NEW.error)) - octet_length(concat(OLD.output, OLD.error));
  ELSE
    NEW.kept_bytes := octet_length(concat(NEW.input, NEW.output, NEW.error));
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION size_run_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'end' THEN
    NEW.kept_bytes := OLD.kept_bytes + octet_length(concat(NEW.output, NEW.error)) - octet_length(concat(OLD.output, OLD.error));
  ELSE
    NEW.kept_bytes := octet_length(concat(NEW.input, NEW.item, NEW.output, NEW.error));
  END IF;
  IF NEW.team_id IS NULL THEN
    SELECT r.team_id INTO NEW.team_id FROM runs r WHERE r.org_id = NEW.org_id AND r.id = NEW.run_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER kept_new BEFORE INSERT ON workflow_versions FOR EACH ROW EXECUTE FUNCTION size_workflow_version();
CREATE TRIGGER kept_whole BEFORE UPDATE OF spec, kept_bytes ON workflow_versions FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL)
  EXECUTE FUNCTION size_workflow_version();
-- In the order of their names: where both fire, the whole is measured last.
CREATE TRIGGER kept_new BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION size_run('whole');
CREATE TRIGGER kept_end BEFORE UPDATE OF output, error ON runs FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL) EXECUTE FUNCTION size_run('end');
CREATE TRIGGER kept_whole BEFORE UPDATE OF input, kept_bytes ON runs FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL)
  EXECUTE FUNCTION size_run('whole');
CREATE TRIGGER kept_new BEFORE INSERT ON run_steps FOR EACH ROW EXECUTE FUNCTION size_run_step('whole');
CREATE TRIGGER kept_end BEFORE UPDATE OF output, error ON run_steps FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL)
  EXECUTE FUNCTION size_run_step('end');
CREATE TRIGGER kept_whole BEFORE UPDATE OF input, item, kept_bytes ON run_steps FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL)
  EXECUTE FUNCTION size_run_step('whole');
CREATE TRIGGER kept_more AFTER INSERT ON workflow_versions REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('workflows');
CREATE TRIGGER kept_other AFTER UPDATE ON workflow_versions REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('workflows');
CREATE TRIGGER kept_less AFTER DELETE ON workflow_versions REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('workflows');
CREATE TRIGGER kept_more AFTER INSERT ON runs REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_other AFTER UPDATE ON runs REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_less AFTER DELETE ON runs REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_more AFTER INSERT ON run_steps REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_other AFTER UPDATE ON run_steps REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_less AFTER DELETE ON run_steps REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
REVOKE ALL ON FUNCTION size_workflow_version(), size_run(), size_run_step() FROM PUBLIC;
-- A row from before is counted by whatever changes it first, so that none gets past those who count; it is measured once.
CREATE TRIGGER kept_first BEFORE UPDATE ON workflow_versions FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_workflow_version();
CREATE TRIGGER kept_first BEFORE UPDATE ON runs FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_run('whole');
CREATE TRIGGER kept_first BEFORE UPDATE ON run_steps FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_run_step('whole');
