-- owner: tenancy
-- Raised by every restore: entity tags and cursors carry it, so that nothing a client kept from before matches by accident.
-- 0 on an instance that was never restored.
ALTER TABLE instance ADD COLUMN generation bigint NOT NULL DEFAULT 0;
