-- owner: localization
-- How many of how many messages the import that runs has taken in.
ALTER TABLE l10n_imports ADD COLUMN done int NOT NULL DEFAULT 0, ADD COLUMN total int NOT NULL DEFAULT 0;
