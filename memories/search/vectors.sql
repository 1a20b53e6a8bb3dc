-- current: The index follows what the memories say; what is only prepared, it alone has.
-- prepared: Found first, then inserted: Citus sends a plain INSERT … SELECT on a cell's own rows in
-- a form that is none, where row-level security adds its condition.
-- current
UPDATE memories_memory m SET embedding = new.embedding::vector, embedding_model = %(space)s
FROM unnest(%(ids)s::uuid[], %(vectors)s::text[]) new (id, embedding) WHERE m.id = new.id
-- prepared
WITH found AS MATERIALIZED (
    SELECT m.end_user_id, m.id, m.status, new.embedding::halfvec
    FROM unnest(%(ids)s::uuid[], %(vectors)s::text[]) new (id, embedding)
    JOIN memories_memory m ON m.id = new.id)
INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)
SELECT end_user_id, id, %(space)s, status, embedding FROM found ON CONFLICT DO NOTHING
-- taken
UPDATE memories_memory m SET embedding = v.embedding::vector, embedding_model = v.space
FROM memories_vector v WHERE m.id = ANY(%(ids)s) AND v.end_user_id = m.end_user_id
    AND v.memory_id = m.id AND v.space = %(space)s AND m.embedding_model <> v.space
-- waiting
SELECT end_user_id FROM (
    (SELECT end_user_id, embedding_model FROM memories_memory
     WHERE embedding_model < %(space)s ORDER BY embedding_model LIMIT %(limit)s)
    UNION ALL
    (SELECT end_user_id, embedding_model FROM memories_memory
     WHERE embedding_model > %(space)s ORDER BY embedding_model LIMIT %(limit)s)
) waiting GROUP BY end_user_id ORDER BY min(embedding_model), end_user_id
-- partitions
SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY inhrelid
-- covered
SELECT i.indrelid::regclass::text FROM pg_inherits a
JOIN pg_index i ON i.indexrelid = a.inhrelid WHERE a.inhparent = to_regclass(%s)
-- half_built
SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND NOT indisvalid
-- indexes
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = %s::regclass AND NOT i.indisprimary
