-- owner: workflows
-- How many items of a run's maps failed, once it has ended, so that a listing need not look at them. Null while it goes on, and of runs that
-- the last release ended: those are counted when they are shown.
ALTER TABLE runs ADD COLUMN failed_items int;
-- Since when a step waits that was put off, and for a limit which one it is: {since, dimension, window, level, limit, used, resets_at}.
ALTER TABLE run_steps ADD COLUMN waits jsonb;
