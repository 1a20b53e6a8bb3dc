-- pairs: Only memories of one type and speaker about exactly the same people meet at all, so that
-- the distances of one round are far fewer than changed memories × memories.
-- pairs
WITH known AS MATERIALIZED (
    SELECT m.id, m.type, m.speaker, v.embedding, about.people
    FROM memories_memory m
    JOIN memories_vector v ON v.end_user_id = m.end_user_id AND v.memory_id = m.id
        AND v.space = %(space)s
    CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(l.contact_id ORDER BY l.contact_id), '{{}}') AS people
        FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected) about
    WHERE m.end_user_id = %(end_user)s AND m.status = 'active' AND m.kind = 'fact')
SELECT id, other FROM (
    SELECT a.id, b.id AS other, rank() OVER (
        PARTITION BY a.id ORDER BY a.embedding <=> b.embedding, b.id) AS place
    FROM known a JOIN known b USING (type, people, speaker)
    WHERE a.id = ANY (%(fresh)s) AND a.id <> b.id AND a.embedding <=> b.embedding <= %(far)s
) near WHERE place <= %(most)s
