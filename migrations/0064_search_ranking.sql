-- owner: search
-- A role of its own for the functions that search past row-level security: it reads the index and who holds a grant, and nothing else of
-- anybody's; no connection takes it. The directory's role loses what it had for them.
GRANT USAGE ON SCHEMA public TO atrium_search;
GRANT SELECT (org_id, id, kind, team_id, owner_id, key, visibility, lexemes, triples, readers, title_words, head_words, text_words, updated_at)
  ON search_rows TO atrium_search;
GRANT SELECT (org_id, object_id, principal_id, expires_at) ON object_grants TO atrium_search;
CREATE POLICY search_open ON search_rows FOR SELECT TO atrium_search USING (true);
CREATE POLICY search_open ON object_grants FOR SELECT TO atrium_search USING (true);


-- The words of a thing, and in front of them `=` the stem of each that has another one, at the same places. `languages` are those that
-- the text may be in. A stem that is a word itself is found by that word; a place that is named twice counts once.
CREATE FUNCTION search_lexemes(plain text, languages text) RETURNS tsvector LANGUAGE plpgsql STABLE AS $$
DECLARE
  stems text;
BEGIN
  IF languages = '' THEN RETURN plain::tsvector; END IF;
  WITH known AS MATERIALIZED (
    SELECT (l.language || '_stem')::regdictionary AS dictionary FROM string_to_table(languages, ' ') AS l (language)
  ), stemmed AS MATERIALIZED (
    SELECT u.lexeme, u.positions, u.weights, (ts_lexize(k.dictionary, u.lexeme))[1] AS stem FROM unnest(plain::tsvector) AS u, known k
  )
  SELECT string_agg(format(' %L:%s', '=' || t.stem, t.places), '') INTO stems FROM (
    SELECT s.stem, string_agg(p.at || p.weight, ',') AS places FROM stemmed s, unnest(s.positions, s.weights) AS p (at, weight)
     WHERE s.stem <> s.lexeme GROUP BY s.stem
  ) AS t;
  RETURN (plain || coalesce(stems, ''))::tsvector;
END $$;
REVOKE ALL ON FUNCTION search_lexemes(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_lexemes(text, text) TO atrium_app;

-- Everything is read again, since its words are kept another way; what has not been yet is found by its plain words.
INSERT INTO search_backlog (source) SELECT 'notes' WHERE EXISTS (SELECT FROM notes)
  ON CONFLICT (source) DO UPDATE SET after_id = '00000000-0000-0000-0000-000000000000';
INSERT INTO search_backlog (source) SELECT 'objects' WHERE EXISTS (SELECT FROM objects)
  ON CONFLICT (source) DO UPDATE SET after_id = '00000000-0000-0000-0000-000000000000';

GRANT CREATE ON SCHEMA public TO atrium_search;
-- Processes of the release before this one still search with it; a later release drops it.
ALTER FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, text[], text, text[], int)
  OWNER TO atrium_search;
ALTER FUNCTION search_word_shares(int) OWNER TO atrium_search;
REVOKE CREATE ON SCHEMA public FROM atrium_search;
GRANT EXECUTE ON FUNCTION search_word_shares(int) TO atrium_system;
REVOKE SELECT (org_id, id, kind, team_id, owner_id, key, visibility, lexemes, triples, readers, title_words, head_words, text_words, updated_at)
  ON search_rows FROM atrium_system;
-- Which objects lost a grant is still its business: grants that ended are forgotten in all companies at once.
REVOKE SELECT (principal_id) ON object_grants FROM atrium_system;
