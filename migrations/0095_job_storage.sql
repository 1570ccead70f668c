-- owner: jobs
-- What jobs were given and what came out counts as storage until they are forgotten: the text of the JSON as PostgreSQL writes it. Of a job
-- that the product queued for itself, up to 1 KiB is bookkeeping as its row is: which file to read, which step to run. Ending a job that
-- somebody asked for measures only what an ending writes.
ALTER TABLE jobs ADD COLUMN kept_bytes bigint;
CREATE FUNCTION size_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'end' AND NEW.listed THEN
    NEW.kept_bytes := OLD.kept_bytes + octet_length(concat(NEW.result, NEW.error)) - octet_length(concat(OLD.result, OLD.error));
  ELSE
    NEW.kept_bytes := octet_length(concat(NEW.input, NEW.result, NEW.error));
    IF NOT NEW.listed AND NEW.kept_bytes <= 1024 THEN
      NEW.kept_bytes := 0;
    END IF;
  END IF;
  RETURN NEW;
END $$;
-- In the order of their names: where both fire, the whole is measured last.
CREATE TRIGGER kept_new BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION size_job('whole');
CREATE TRIGGER kept_end BEFORE UPDATE OF result, error ON jobs FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL) EXECUTE FUNCTION size_job('end');
CREATE TRIGGER kept_whole BEFORE UPDATE OF input, listed, kept_bytes ON jobs FOR EACH ROW WHEN (OLD.kept_bytes IS NOT NULL)
  EXECUTE FUNCTION size_job('whole');
CREATE TRIGGER kept_more AFTER INSERT ON jobs REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_other AFTER UPDATE ON jobs REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
CREATE TRIGGER kept_less AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_kept('jobs');
REVOKE ALL ON FUNCTION size_job() FROM PUBLIC;
-- A row from before is counted by whatever changes it first, so that none gets past those who count; it is measured once.
CREATE TRIGGER kept_first BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.kept_bytes IS NULL) EXECUTE FUNCTION size_job('whole');
