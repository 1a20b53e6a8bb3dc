-- nearest
SELECT mine.memory_id, near.memory_id, near.cosine
FROM memories_vector mine CROSS JOIN LATERAL (
    SELECT other.memory_id, 1 - (other.embedding <=> mine.embedding) AS cosine
    FROM memories_vector other
    WHERE other.end_user_id = %(end_user)s AND other.space = %(space)s
      AND other.status = 'active' AND other.memory_id <> mine.memory_id
    ORDER BY other.embedding <=> mine.embedding LIMIT %(limit)s) near
WHERE mine.end_user_id = %(end_user)s AND mine.space = %(space)s AND mine.memory_id = ANY (%(ids)s)
