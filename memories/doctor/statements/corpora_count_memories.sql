-- Word search knows how many memories an end user has of each status, and how long.
SELECT DISTINCT COALESCE(c.end_user_id, m.end_user_id), COALESCE(c.end_user_id, m.end_user_id)
FROM memories_corpus c FULL JOIN (
    SELECT end_user_id, status, count(*) AS size, sum(cardinality(tokens)) AS length
    FROM memories_memory GROUP BY 1, 2) m USING (end_user_id, status)
WHERE (c.size, c.length) IS DISTINCT FROM (m.size, m.length)
