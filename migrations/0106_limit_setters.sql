-- owner: quotas
-- Who set a limit, and when; of a plan's only when. Of limits from before nobody knows.
ALTER TABLE quota_limits ADD COLUMN set_by uuid, ADD COLUMN set_at timestamptz;
