SELECT m.end_user_id, m.id FROM memories_memory m
LEFT JOIN memories_vector v ON v.end_user_id = m.end_user_id
    AND v.memory_id = m.id AND v.space = %(space)s
WHERE (m.embedding_model <> %(space)s OR v.embedding IS DISTINCT FROM m.embedding::halfvec)
    AND (m.embedding_model <> '' OR m.updated_at <= %(before)s)
