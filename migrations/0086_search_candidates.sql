-- owner: search
-- Rows of one company that match and that the reader may read, the best `most` of them. `way` is `words` (the index on words), `newest`
-- (from the newest row on, for words that are nearly everywhere), `titled` (all letter triples in the title) or `alike` (some of them).
-- No more than `look` rows are weighed: each term counts by how often the row has it, against its length and `rarities`, or, where those
-- are not known, by in how many of the matching rows it is. Rows with the title that was asked for come first, then those with `every`
-- word while `strict`. `found` has the places of the words, `begun` where a word begins with `beginning`.
-- `words`, `titled` and `alike` read the index of words and letter triples alone: the company's rows are not collected as well, since no
-- reader reads in two companies by the same id. `newest` looks at the newest `look` rows that the reader may read, by which of the three
-- ways they may, and then for the words. `chunks` are letter triples that a title has all of, for one of them; without any, a title has
-- one of `alike`. `titled` are titles of as many words as were asked for. `looked` is at how many rows this looked; there is always one
-- row that says so.
CREATE FUNCTION search_candidates(
  company uuid, reader uuid, team uuid, principals uuid[], by_notes boolean, by_files boolean, wide boolean, kinds text[],
  prefix text, way text, wanted tsquery, every tsquery, titled tsquery, terms tsquery[], rarities real[], words text[], beginning text,
  alike text[], chunks text[], strict boolean, look int, most int
) RETURNS TABLE (
  looked int, id uuid, kind text, owner_id uuid, updated_at timestamptz, title_words int, head_words int, text_words int, common int, triples int,
  complete boolean, rarity real[], found text, begun text
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  SET enable_bitmapscan = on SET enable_seqscan = off SET enable_sort = on SET jit = off SET work_mem = '32MB' AS $$
DECLARE
  -- The condition is the one of the notes' and the repository's own statements; a grant that ended counts from that moment.
  shared text := 's.visibility = ''team'' AND ($7 OR (s.team_id = $3 AND CASE s.kind WHEN ''note'' THEN $5 ELSE $6 END))';
  granted text := 's.kind = ''note'' AND $2 = ANY(s.readers) OR s.kind <> ''note'' AND EXISTS (
    SELECT FROM object_grants g WHERE g.org_id = $1 AND g.object_id = s.id
       AND g.principal_id = ANY($17) AND (g.expires_at IS NULL OR g.expires_at > now()))';
  -- What is asked of a row besides; written so that no index is read for the company.
  asked text := '(s.org_id = $1) IS TRUE AND s.kind = ANY($8) AND ($9 = '''' OR starts_with(
    coalesce((SELECT w.key FROM search_moved w WHERE w.org_id = $1 AND w.id = s.id), s.key), $9))';
  kept text := 's.id, s.updated_at, s.title_words, s.text_words, s.lexemes, s.triples';
  newest text := 'ORDER BY s.updated_at DESC, s.id DESC LIMIT $21';
  source text;
BEGIN
  IF company IS DISTINCT FROM current_org() THEN RETURN; END IF;
  IF way = 'newest' THEN
    source := format('(SELECT %1$s FROM search_rows s WHERE %2$s AND %3$s AND %4$s %5$s)
        UNION ALL (SELECT %1$s FROM search_rows s WHERE s.owner_id = $2 AND NOT (%3$s) AND %4$s %5$s)
        UNION ALL (SELECT * FROM (SELECT %1$s FROM search_rows s WHERE s.readers && $17 AND s.owner_id <> $2 AND NOT (%3$s) AND (%6$s) AND %4$s
             AND cardinality(s.readers) > CASE s.visibility WHEN ''team'' THEN 3 ELSE 1 END LIMIT $22) AS s %5$s)',
      kept, CASE WHEN wide THEN 's.org_id = $1' ELSE 's.team_id = $3' END, shared, asked, newest, granted);
  ELSE
    source := format('SELECT %s FROM search_rows s WHERE s.readers && $4 AND %s AND (%s) AND (s.owner_id = $2 OR %s OR %s) LIMIT $22',
      kept, asked, CASE
        WHEN way = 'words' THEN 's.lexemes @@ $10'
        WHEN way = 'titled' THEN format('s.title_words = (numnode($12) + 1) / 2 AND s.triples @> %L', string_to_array(chunks[1], ' '))
        WHEN chunks = '{}' THEN 's.triples && $19'
        ELSE (SELECT string_agg(format('s.triples @> %L', string_to_array(c, ' ')), ' OR ') FROM unnest(chunks) AS c) END, shared, granted);
  END IF;
  RETURN QUERY EXECUTE format($query$
    WITH weighed AS MATERIALIZED (
      SELECT m.id, m.updated_at, m.text_words, m.common, m.hit, m.hit AND m.held[1] @@ $11 AS complete,
             m.hit AND m.title_words = (numnode($12) + 1) / 2 AND m.held[1] @@ $12 AS named, CASE WHEN m.hit THEN %3$s END AS ranks FROM (
        SELECT h.*, %4$s AS hit FROM (
          -- Read out of the table once, as the one element of an array.
          SELECT s.id, s.updated_at, s.title_words, s.text_words, ARRAY[s.lexemes] AS held, s.common
            FROM (SELECT s.*, %2$s AS common FROM (%1$s) AS s ORDER BY common DESC, s.updated_at DESC, s.id DESC LIMIT $21) AS s OFFSET 0
        ) AS h OFFSET 0
      ) AS m
    ), known AS (
      SELECT coalesce($14, (SELECT %5$s FROM weighed w WHERE w.hit)) AS rarity
    ), best AS (
      SELECT w.id, w.common, w.complete, k.rarity FROM weighed w, known k WHERE w.hit
       ORDER BY w.common DESC, w.named DESC, (w.complete AND $18) DESC,
                (%6$s) * CASE WHEN w.complete THEN 1.2 ELSE 1 END DESC, w.updated_at DESC, w.id DESC LIMIT $20
    )
    SELECT c.looked, r.id, r.kind, r.owner_id, r.updated_at, r.title_words, r.head_words, r.text_words, r.common, r.triples, r.complete, r.rarity,
           ts_filter(setweight(r.held[1], 'C', $15), '{c}')::text,
           CASE $16 WHEN '' THEN '' ELSE concat(
             CASE WHEN r.held[1] @@ format('%%L:*A', $16)::tsquery THEN 'A' END, CASE WHEN r.held[1] @@ format('%%L:*B', $16)::tsquery THEN 'B' END,
             CASE WHEN r.held[1] @@ format('%%L:*D', $16)::tsquery THEN 'D' END) END
      FROM (SELECT count(*)::int AS looked FROM weighed) AS c LEFT JOIN (
        SELECT s.id, s.kind, s.owner_id, s.updated_at, s.title_words, s.head_words, s.text_words, b.common, cardinality(s.triples) AS triples,
               b.complete, b.rarity, ARRAY[s.lexemes] AS held
          FROM best b JOIN search_rows s ON s.org_id = $1 AND s.id = b.id OFFSET 0
      ) AS r ON true
    $query$,
    source,
    CASE way WHEN 'alike' THEN '(SELECT count(*)::int FROM unnest(s.triples) t WHERE t = ANY($19))' ELSE '0' END,
    -- Written out for each term, because a query inside each row would take longer than the weighing.
    (SELECT format('ARRAY[%s]', string_agg(
              format('(ts_rank(''{0.5, 0.2, 1, 0.7}'', m.held[1], $13[%1$s]) * %2$s)::real', at, (numnode(term) + 1) / 2), ', ' ORDER BY at))
       FROM unnest(terms) WITH ORDINALITY AS t (term, at)),
    CASE way WHEN 'newest' THEN 'h.held[1] @@ $10' ELSE 'true' END,
    (SELECT format('ARRAY[%s]', string_agg(format(
              'ln(1 + (2 * count(*) - count(*) FILTER (WHERE w.ranks[%1$s] > 0) + 0.5) / (count(*) FILTER (WHERE w.ranks[%1$s] > 0) + 0.5))::real',
              at), ', ' ORDER BY at))
       FROM generate_series(1, cardinality(terms)) AS at),
    (SELECT string_agg(format(
              'k.rarity[%1$s] * w.ranks[%1$s] / (w.ranks[%1$s] + 0.4 * (0.25 + 0.75 * w.text_words / 800.0))', at), ' + ' ORDER BY at)
       FROM generate_series(1, cardinality(terms)) AS at))
  -- Beyond so many rows that match, those that were written first are looked at.
  USING company, reader, team, principals, by_notes, by_files, wide, kinds, prefix, wanted, every, titled, terms, rarities, words, beginning,
        ARRAY[reader, team, company], strict, alike, most, look, greatest(look, 8000);
END $$;
GRANT CREATE ON SCHEMA public TO atrium_search;
ALTER FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, tsquery, tsquery[], real[],
  text[], text, text[], text[], boolean, int, int) OWNER TO atrium_search;
REVOKE CREATE ON SCHEMA public FROM atrium_search;
REVOKE ALL ON FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, tsquery, tsquery[], real[],
  text[], text, text[], text[], boolean, int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_candidates(uuid, uuid, uuid, uuid[], boolean, boolean, boolean, text[], text, text, tsquery, tsquery, tsquery, tsquery[], real[],
  text[], text, text[], text[], boolean, int, int) TO atrium_app;
