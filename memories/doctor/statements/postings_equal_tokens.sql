-- A memory is found under exactly its search tokens, as often as they stand there, and it
-- and its vectors under its own status.
SELECT COALESCE(m.end_user_id, p.end_user_id), COALESCE(m.id, p.memory_id)
FROM memories_memory m
FULL JOIN (
    SELECT memory_id, end_user_id, min(status) AS status, max(status) AS other,
        array_agg((token, round(times::numeric, 3), length)::text ORDER BY token) AS held
    FROM memories_posting GROUP BY memory_id, end_user_id) p
    ON p.memory_id = m.id AND p.end_user_id = m.end_user_id
CROSS JOIN LATERAL (
    SELECT array_agg((token, round(times, 3), cardinality(m.tokens))::text
                     ORDER BY token) AS meant
    FROM (SELECT ltrim(raw, %(around)s) COLLATE "C" AS token,
              sum(CASE WHEN starts_with(raw, %(around)s) THEN %(share)s ELSE 1 END) AS times
          FROM unnest(m.tokens) AS raw GROUP BY 1) words) tokens
WHERE held IS DISTINCT FROM meant OR p.status <> m.status OR p.other <> m.status
    OR EXISTS (SELECT FROM memories_vector v WHERE v.end_user_id = m.end_user_id
               AND v.memory_id = m.id AND v.status <> m.status)
