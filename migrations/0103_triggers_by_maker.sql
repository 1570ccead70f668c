-- owner: triggers
-- transaction: none
-- Triggers that a person answers for: they are handed over when that person leaves.
DROP INDEX CONCURRENTLY IF EXISTS doc_triggers_of_maker;
-- next
CREATE INDEX CONCURRENTLY doc_triggers_of_maker ON doc_triggers (org_id, coalesce(maker_id, created_by));
