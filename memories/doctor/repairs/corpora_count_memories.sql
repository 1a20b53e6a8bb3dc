-- What is written here returns something, so that Citus makes no COPY of it, which row-level
-- security forbids.
DELETE FROM memories_corpus WHERE end_user_id = %(end_user)s;
WITH counted AS MATERIALIZED (
    SELECT end_user_id, status, count(*), sum(cardinality(tokens))
    FROM memories_memory WHERE end_user_id = %(end_user)s GROUP BY 1, 2)
INSERT INTO memories_corpus (end_user_id, status, size, length)
SELECT * FROM counted RETURNING 1
