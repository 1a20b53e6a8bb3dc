-- What came before a memory: what it supersedes, was merged from, or is a piece of; and the
-- other way what came after. Each row of an edge has its mirror, so source is enough.
WITH RECURSIVE earlier (id) AS (
    SELECT %(memory)s::uuid
    UNION
    SELECT step.id FROM earlier CROSS JOIN LATERAL (
        SELECT e.target_id AS id FROM memories_edge e
        WHERE e.source_id = earlier.id AND e.kind = ANY(%(kinds)s) AND NOT e.inverse
        UNION ALL
        SELECT m.id FROM memories_memory m WHERE m.merged_into_id = earlier.id) step
), later (id) AS (
    SELECT %(memory)s::uuid
    UNION
    SELECT step.id FROM later CROSS JOIN LATERAL (
        SELECT e.target_id AS id FROM memories_edge e
        WHERE e.source_id = later.id AND e.kind = ANY(%(kinds)s) AND e.inverse
        UNION ALL
        SELECT m.merged_into_id FROM memories_memory m
        WHERE m.id = later.id AND m.merged_into_id IS NOT NULL) step
)
SELECT id FROM earlier UNION SELECT id FROM later LIMIT %(longest)s
