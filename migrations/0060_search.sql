-- owner: search
-- What can be found: one row per note, object and document that is not in the trash, written in the transaction that changes the
-- thing or its access. `readers` are the ids that may read it: its owner, holders of grants, and, when the team sees it, the team and
-- an id that stands for people who read the whole company. `edition` names the state of the text that the words were read from.
CREATE TABLE search_rows (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('note', 'object', 'document')),
  team_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  key text COLLATE "C",
  visibility text NOT NULL,
  edition text NOT NULL,
  lexemes tsvector NOT NULL,
  triples text[] NOT NULL,
  readers uuid[] NOT NULL,
  title_words int NOT NULL,
  head_words int NOT NULL,
  text_words int NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX search_rows_words ON search_rows USING gin (readers, lexemes, triples);
CREATE INDEX search_rows_newest ON search_rows (org_id, updated_at DESC, id DESC);
CALL wall_off('search_rows');
GRANT SELECT, INSERT, UPDATE, DELETE ON search_rows TO atrium_app;
-- For the functions below alone, which run as this role: behind row-level security PostgreSQL uses no index on words.
GRANT SELECT (org_id, id, kind, team_id, owner_id, key, visibility, lexemes, triples, readers, title_words, head_words, text_words, updated_at)
  ON search_rows TO atrium_system;
GRANT SELECT (org_id, object_id, principal_id) ON object_grants TO atrium_system;

-- How rare frequent words are, over the whole instance: in one of 2^rarity rows, or in a few more.
CREATE TABLE search_words (
  word text COLLATE "C" PRIMARY KEY,
  rarity int NOT NULL
);
GRANT SELECT ON search_words TO atrium_app;
GRANT SELECT, INSERT, DELETE ON search_words TO atrium_system;

-- How far the rows that were there before this migration have been read, by table.
CREATE TABLE search_backlog (
  source text PRIMARY KEY CHECK (source IN ('notes', 'objects')),
  after_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
INSERT INTO search_backlog (source) SELECT 'notes' WHERE EXISTS (SELECT FROM notes);
INSERT INTO search_backlog (source) SELECT 'objects' WHERE EXISTS (SELECT FROM objects);
GRANT SELECT, UPDATE, DELETE ON search_backlog TO atrium_system;

-- Rows of one company that match and that the reader may read, the best `most` of them. `way` is `words` (the index on words, matches in
-- the title first), `newest` (from the newest row on, for words that are nearly everywhere) or `alike` (titles with common triples).
-- The condition is the one of the notes' and the repository's own statements; a grant that ended counts from that moment.
CREATE FUNCTION search_candidates(
  company uuid, reader uuid, team uuid, principals uuid[], by_notes boolean, by_files boolean, wide boolean, kinds text[],
  prefix text, way text, wanted tsquery, first tsquery, words text[], beginning text, alike text[], most int
) RETURNS TABLE (
  id uuid, kind text, owner_id uuid, updated_at timestamptz, title_words int, head_words int, text_words int, common int, found jsonb
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  SET enable_bitmapscan = on SET enable_seqscan = off SET enable_sort = on SET jit = off AS $$
BEGIN
  IF company IS DISTINCT FROM current_org() THEN RETURN; END IF;
  -- Undone at the end of the function, like every setting that it names.
  IF way = 'newest' THEN
    PERFORM set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true);
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT c.id, c.kind, c.owner_id, c.updated_at, c.title_words, c.head_words, c.text_words, c.common,
           (SELECT jsonb_object_agg(u.lexeme, array_to_string(u.weights, '')) FROM unnest(c.lexemes) u
             WHERE u.lexeme = ANY($12) OR ($13 <> '' AND starts_with(u.lexeme, $13)))
      FROM (
        SELECT s.id, s.kind, s.owner_id, s.updated_at, s.title_words, s.head_words, s.text_words, s.lexemes, %s AS common FROM search_rows s
         WHERE s.org_id = $1 AND s.readers && $4 AND s.kind = ANY($8) AND ($9 = '' OR starts_with(s.key, $9)) AND %s
           AND (s.owner_id = $2
             OR (s.visibility = 'team' AND ($7 OR (s.team_id = $3 AND CASE s.kind WHEN 'note' THEN $5 ELSE $6 END)))
             OR (s.kind = 'note' AND $2 = ANY(s.readers))
             OR (s.kind <> 'note' AND EXISTS (
               SELECT FROM object_grants g WHERE g.org_id = $1 AND g.object_id = s.id
                  AND g.principal_id = ANY($14) AND (g.expires_at IS NULL OR g.expires_at > now()))))
         ORDER BY %s LIMIT $16
      ) c
    $query$,
    CASE way WHEN 'alike' THEN '(SELECT count(*)::int FROM unnest(s.triples) t WHERE t = ANY($15))' ELSE '0' END,
    CASE way WHEN 'alike' THEN 's.triples && $15' ELSE 's.lexemes @@ $10' END,
    CASE way WHEN 'alike' THEN 'common DESC, s.updated_at DESC, s.id DESC' WHEN 'newest' THEN 's.updated_at DESC, s.id DESC'
             ELSE '(s.lexemes @@ $11) DESC, s.updated_at DESC, s.id DESC' END)
  USING company, reader, team, principals, by_notes, by_files, wide, kinds, prefix, wanted, first, words, beginning,
        ARRAY[reader, team, company], alike, most;
END $$;

-- In how many of about `most` rows of the instance each word is that at least one of a thousand has; and how many those rows were.
CREATE FUNCTION search_word_shares(most int) RETURNS TABLE (word text, rows int, looked_at int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  share real;
  sampled int;
BEGIN
  SELECT least(100, 100.0 * most / greatest(reltuples, 1)) INTO share FROM pg_class WHERE oid = 'public.search_rows'::regclass;
  EXECUTE format('SELECT count(*) FROM search_rows TABLESAMPLE SYSTEM (%s) REPEATABLE (7)', share) INTO sampled;
  RETURN QUERY SELECT t.word, t.ndoc, sampled FROM ts_stat(
    format('SELECT lexemes FROM search_rows TABLESAMPLE SYSTEM (%s) REPEATABLE (7)', share)) t WHERE t.ndoc * 1000 >= sampled;
END $$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, text[], text, text[], int)
  OWNER TO atrium_system;
ALTER FUNCTION search_word_shares(int) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, text[], text, text[], int)
  FROM PUBLIC;
REVOKE ALL ON FUNCTION search_word_shares(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, text[], text, text[], int)
  TO atrium_app;
