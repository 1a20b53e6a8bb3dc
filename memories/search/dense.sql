-- others: Memories that no vector ranks, latest first; read only if the ranked ones are too few.
-- arm
(
    SELECT {{part}} AS part, memory_id, embedding <=> %(vector_{{vector}})s::halfvec AS place
    FROM memories_vector
    WHERE end_user_id = %(end_user)s AND space = %(space)s AND status = ANY(%(statuses)s)
        AND {{wanted}}
    ORDER BY place, memory_id LIMIT %({{limit}})s)
-- others
(
    SELECT {{part}}, id, -extract(epoch FROM said_at)::float8 FROM memories_memory
    WHERE end_user_id = %(end_user)s AND status = ANY(%(statuses)s) AND {{wanted}}
        AND (SELECT count(*) FROM ranked WHERE part = {{first}}) < %({{limit}})s
    ORDER BY said_at DESC, id LIMIT %({{limit}})s)
