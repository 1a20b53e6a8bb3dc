-- What is written here returns something, so that Citus makes no COPY of it, which row-level
-- security forbids.
DELETE FROM memories_posting WHERE end_user_id = %(end_user)s AND memory_id = %(subject)s;
UPDATE memories_vector v SET status = m.status FROM memories_memory m
WHERE v.end_user_id = %(end_user)s AND v.memory_id = %(subject)s AND m.id = v.memory_id;
WITH found AS MATERIALIZED (SELECT * FROM memories_memory WHERE id = %(subject)s)
{postings} RETURNING 1
