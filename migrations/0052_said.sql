-- owner: jobs
-- A job that is part of something else, such as a turn of a chat at a worker: that pays for it, shows it and ends it. Such a job is not found
-- among jobs. What its worker has said so far comes with heartbeats and is kept until the whole has taken it over.
ALTER TABLE jobs
  ADD COLUMN part_of uuid,
  -- How many characters of its reply the attempt with this token has said.
  ADD COLUMN heard int NOT NULL DEFAULT 0,
  ADD COLUMN heard_from uuid;
CREATE UNIQUE INDEX jobs_by_whole ON jobs (part_of) WHERE part_of IS NOT NULL;
GRANT SELECT (part_of) ON jobs TO atrium_system;

-- The words of a worker from one position on, counted in characters. There is no foreign key: words are deleted with their job, by its id.
CREATE TABLE job_words (
  job_id uuid NOT NULL,
  at int NOT NULL,
  org_id uuid NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (job_id, at)
);
CALL wall_off('job_words');
GRANT SELECT, INSERT, DELETE ON job_words TO atrium_app;
GRANT SELECT (job_id), DELETE ON job_words TO atrium_system;
