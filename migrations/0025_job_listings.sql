-- owner: jobs
-- A listing by state reads its page and no more, however many other jobs the team has.
CREATE INDEX jobs_of_team_by_state ON jobs (team_id, state, id);
