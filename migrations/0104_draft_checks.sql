-- owner: localization
-- Warnings about a draft by a machine, as `pending_checks` has those about a proposal; read only while the text is a draft.
ALTER TABLE l10n_messages ADD COLUMN draft_checks jsonb NOT NULL DEFAULT '[]';
