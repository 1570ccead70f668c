-- owner: localization
-- What `q` looks for, in lower case and compared by bytes: a search reads the rows of one locale, however many there are, and pays for
-- no case while it does. A line feed stands between the parts, so that no search finds one across two of them.
ALTER TABLE l10n_messages ADD COLUMN folded text COLLATE "C" GENERATED ALWAYS AS (
  lower(key COLLATE "default" || E'\n' || source || E'\n' || coalesce(text, '') || E'\n' || coalesce(pending_text, '')) COLLATE "C"
) STORED;
