-- telling: the words of entities that are not common; each is counted that far only.
-- best: BM25 of each part of a question over the memories of one end user. Where a part has words of an
-- entity, only memories count that hold enough of these and one of the others.
-- telling
SELECT token FROM unnest(%(of_entities)s::text[]) AS t (token)
WHERE (SELECT count(*) FROM (
    SELECT FROM memories_posting p
    WHERE p.end_user_id = %(end_user)s AND p.token = t.token AND status = ANY(%(statuses)s)
    LIMIT %(common)s) holders) < %(common)s
-- best
WITH inside (id) AS MATERIALIZED (
    {{inside}}
), asked AS (
    SELECT * FROM unnest(%(parts)s::int[], %(tokens)s::text[], %(weights)s::float8[],
                         %(of_entity)s::bool[]) AS t (part, token, weight, of_entity)
), corpus AS MATERIALIZED (
    SELECT COALESCE(sum(size), 0)::float8 AS size,
        COALESCE(sum(length) / NULLIF(sum(size), 0), 0)::float8 AS length
    FROM memories_corpus WHERE end_user_id = %(end_user)s AND status = ANY(%(statuses)s)
), held AS MATERIALIZED (
    SELECT memory_id, token, times, length
    FROM memories_posting
    WHERE end_user_id = %(end_user)s AND token = ANY({{read}}) AND status = ANY(%(statuses)s)
), rarity AS MATERIALIZED (
    SELECT token, ln(1 + (corpus.size - holders + 0.5) / (holders + 0.5)) AS idf
    FROM (SELECT token, count(*) AS holders FROM held GROUP BY token) t CROSS JOIN corpus
), entities AS MATERIALIZED (
    SELECT part, bool_or(of_entity) AS asked, sum(idf) FILTER (WHERE of_entity) AS idf
    FROM asked LEFT JOIN rarity USING (token) GROUP BY part
), priced AS MATERIALIZED (
    SELECT part, token, of_entity, idf, weight * idf * (%(k1)s + 1) AS price
    FROM asked JOIN rarity USING (token)
), scored AS MATERIALIZED (
    SELECT part, memory_id AS id,
        sum(price * times
            / (times + %(k1)s * (1 - %(b)s + %(b)s * held.length / corpus.length))) AS score,
        sum(idf) FILTER (WHERE of_entity) AS shared,
        bool_or(NOT of_entity) AS answers
    FROM held JOIN priced USING (token) CROSS JOIN corpus
    WHERE {{wanted}}
    GROUP BY part, memory_id
), best AS (
    SELECT entities.part, sought.inside, top.id, top.score, row_number() OVER (
        PARTITION BY entities.part, sought.inside ORDER BY top.score DESC, top.id) AS rank
    FROM entities
    CROSS JOIN (VALUES (false, %(limit)s), (true, %(inside_limit)s)) sought (inside, size)
    CROSS JOIN LATERAL (
        SELECT id, score FROM scored
        WHERE scored.part = entities.part
            AND (NOT entities.asked OR answers AND shared >= %(cover)s * entities.idf)
            AND (NOT sought.inside OR {{among_inside}})
        ORDER BY score DESC, id LIMIT sought.size) top
)
SELECT part, inside, id, score,
    CASE WHEN rank = 1 AND NOT inside
        THEN (SELECT m.tokens FROM memories_memory m WHERE m.id = best.id) END,
    CASE WHEN rank = 1 THEN corpus.size END,
    CASE WHEN rank = 1 AND NOT inside THEN (SELECT json_object_agg(token, idf) FROM rarity) END
FROM best CROSS JOIN corpus ORDER BY part, inside, rank
