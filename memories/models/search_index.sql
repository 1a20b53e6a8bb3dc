-- What the triggers of search_index.py do.
-- remove: one index range a memory, whatever the planner thinks of a table that just grew.
-- count: in one order, so that two statements never wait for each other.
-- postings
    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)
    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)
    FROM {{source}} m CROSS JOIN LATERAL (
        SELECT CASE WHEN raw LIKE '{around}%' THEN substr(raw, 2) ELSE raw END AS token,
               sum(CASE WHEN raw LIKE '{around}%' THEN {share} ELSE 1 END)::real AS times
        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '{around}') GROUP BY 1) word
-- remove
        DELETE FROM memories_posting
        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(
            SELECT CASE WHEN raw LIKE '{around}%' THEN substr(raw, 2) ELSE raw END
            FROM unnest(was.tokens) AS raw));
-- count
    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)
    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))
    FROM {{rows}} GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (end_user_id, status)
        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;
-- uncount
    DELETE FROM memories_corpus
    WHERE size = 0 AND end_user_id IN (SELECT end_user_id FROM old_rows);
-- removed
    FOR was IN SELECT end_user_id, id, tokens FROM old_rows LOOP {remove}
    END LOOP;
    {count} {uncount}
    RETURN NULL;
-- moved
(
        SELECT n.* FROM old_rows o JOIN new_rows n USING (id)
        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status))
-- recounted
(
        SELECT -1 AS sign, o.end_user_id, o.status, o.tokens
        FROM old_rows o JOIN new_rows n USING (id)
        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)
        UNION ALL
        SELECT 1, n.end_user_id, n.status, n.tokens
        FROM old_rows o JOIN new_rows n USING (id)
        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) moved
-- changed
    FOR was IN
        SELECT o.end_user_id, o.id, o.tokens, n.status, n.content <> o.content AS says_else,
            (n.tokens, n.status) IS DISTINCT FROM (o.tokens, o.status) AS moved
        FROM old_rows o JOIN new_rows n USING (id)
        WHERE (o.tokens, o.status, o.content) IS DISTINCT FROM (n.tokens, n.status, n.content)
    LOOP
        IF was.says_else THEN
            DELETE FROM memories_vector
            WHERE end_user_id = was.end_user_id AND memory_id = was.id;
        END IF;
        IF was.moved THEN {remove}
            UPDATE memories_vector v SET status = was.status
            WHERE v.end_user_id = was.end_user_id AND v.memory_id = was.id
                AND v.status <> was.status;
        END IF;
    END LOOP;
    IF FOUND THEN {postings};
        {count} {uncount}
    END IF;
    RETURN NULL;
