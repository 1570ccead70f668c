-- owner: triggers
-- Who answers for a trigger: whoever changed it last or was given it by a person who left; null means who made it. `egress_digest` stands
-- for the version of the workflow that may send something elsewhere when the trigger fires, and `egress_by` for who said so.
ALTER TABLE doc_triggers ADD COLUMN maker_id uuid, ADD COLUMN egress_digest text, ADD COLUMN egress_by uuid;
