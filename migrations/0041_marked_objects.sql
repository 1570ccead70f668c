-- owner: repository
-- What a person has behind delete markers is in no listing, and is still theirs to hand over when they leave.
CREATE INDEX marked_objects_of_owner ON objects (owner_id) WHERE deleted AND trashed_at IS NULL;
