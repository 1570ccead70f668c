-- owner: workflows
-- Listings of runs by every set of filters: each has an index that ends with state and id, so that a page reads no more than a page of
-- each state. Runs without a trigger, which are most, are in none of the last three.
CREATE INDEX runs_of_person_by_workflow ON runs (team_id, user_id, slug, state, id);
CREATE INDEX runs_of_trigger_by_workflow ON runs (trigger_id, slug, state, id) WHERE trigger_id IS NOT NULL;
CREATE INDEX runs_of_trigger_by_person ON runs (trigger_id, user_id, state, id) WHERE trigger_id IS NOT NULL;
CREATE INDEX runs_of_trigger_by_both ON runs (trigger_id, user_id, slug, state, id) WHERE trigger_id IS NOT NULL;
