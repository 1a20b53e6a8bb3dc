-- parts: The importance of a user's memories (all, or those asked about) with all that it is made of:
-- the columns of scoring.Parts, in their order, after the memory's id. One text for explaining and
-- for rescoring. A cast at every number: a bare one is a numeric, with which PostgreSQL calculates
-- a hundred times more slowly.
-- rescore: a row that another statement holds is skipped: a nightly job neither waits nor deadlocks.
-- parts
WITH memory AS (
    SELECT m.id, m.kind, m.access_count, m.mention_count, m.consolidated_into_id,
        GREATEST(0, u.activity_days - m.learnt_day) AS age,
        GREATEST(0, u.activity_days - COALESCE(m.last_accessed_day, m.learnt_day)) AS idle,
        (m.happens_at AT TIME ZONE 'UTC' + m.happens_offset * interval '1 minute')::date
            - %(today)s::date AS event_in_days,
        (EXTRACT(EPOCH FROM %(now)s::timestamptz - m.expires_at) / 86400)::float8 AS expired_days,
        CASE WHEN jsonb_typeof(m.metadata -> 'pinned_importance') = 'number'
            THEN LEAST(1, GREATEST(0, (m.metadata ->> 'pinned_importance')::float8))
        END AS pinned
    FROM memories_memory m JOIN accounts_enduser u ON u.id = m.end_user_id
    WHERE m.end_user_id = %(end_user)s AND m.status <> 'archived'
        AND (%(ids)s::uuid[] IS NULL OR m.id = ANY (%(ids)s::uuid[]))
), inbound AS (
    SELECT target_id AS id, count(*) AS links FROM memories_edge
    WHERE end_user_id = %(end_user)s AND NOT inverse AND NOT kind LIKE ANY (%(no_hub)s)
        AND (%(ids)s::uuid[] IS NULL OR target_id = ANY (%(ids)s::uuid[]))
    GROUP BY 1
), spoken AS (
    SELECT l.entity_id, count(*)::float8 AS memories
    FROM memories_entitylink l JOIN memories_memory m ON m.id = l.memory_id
    WHERE l.end_user_id = %(end_user)s AND m.kind = 'fact' AND m.status <> 'archived'
        AND (%(ids)s::uuid[] IS NULL OR l.entity_id IN (
            SELECT entity_id FROM memories_entitylink WHERE memory_id = ANY (%(ids)s::uuid[])))
    GROUP BY 1
), corpus AS MATERIALIZED (
    -- The facts that are not archived: all rows but those that small indexes tell. It is
    -- counted only where some entity asks for it.
    SELECT ((SELECT count(*) FROM memories_memory WHERE end_user_id = %(end_user)s)
        - (SELECT count(*) FROM memories_memory
           WHERE end_user_id = %(end_user)s AND content_hash >= 'profile')
        - (SELECT count(*) FROM memories_memory
           WHERE end_user_id = %(end_user)s AND status = 'archived' AND kind = 'fact')
        )::float8 AS memories
), connected AS (
    SELECT l.memory_id AS id, sum(
        4 * ln(s.memories) * ln(c.memories / s.memories) / ln(c.memories) ^ 2) AS sum
    FROM memory m JOIN memories_entitylink l ON l.memory_id = m.id
        JOIN spoken s ON s.entity_id = l.entity_id
        CROSS JOIN LATERAL (SELECT (SELECT memories FROM corpus) AS memories) c
    WHERE m.kind = 'fact' AND s.memories > 1 AND s.memories < c.memories
    GROUP BY 1
), measured AS (
    SELECT m.*, COALESCE(i.links, 0) AS links,
        GREATEST(0, COALESCE(i.links, 0) - %(hub_linear)s) AS links_beyond,
        GREATEST(0, m.mention_count - %(mention_linear)s) AS mentions_beyond,
        COALESCE(c.sum, 0) AS connected,
        m.access_count * %(momentum)s::float8 ^ LEAST(m.idle, 9999)::float8 AS effective_access
    FROM memory m LEFT JOIN inbound i ON i.id = m.id LEFT JOIN connected c ON c.id = m.id
), components AS (
    SELECT id, effective_access,
        ln(1 + effective_access / GREATEST(%(least_age)s, age) / %(baseline_access_rate)s::float8)
            * %(value_weight)s::float8 AS value,
        LEAST(links, %(hub_linear)s) * %(hub_weight)s::float8 + links_beyond * %(hub_beyond)s::float8
            / (1 + links_beyond * %(hub_damping)s::float8) AS hub,
        %(entity_limit)s::float8 * connected / (1 + connected) AS entity_hub,
        LEAST(mention_count, %(mention_linear)s) * %(mention_weight)s::float8
            + %(mention_beyond)s::float8 * ln(1 + mentions_beyond::float8) AS mention,
        GREATEST(0, %(newness)s::float8 - age * %(newness_decay)s::float8) AS newness,
        1 / (1 + idle * %(recency_decay)s::float8) AS recency,
        (CASE WHEN event_in_days IS NULL OR event_in_days < 0 THEN 1
            {temporal}  -- WHEN event_in_days <= … THEN …, from scoring.TEMPORAL
            ELSE 1 END)::float8 AS temporal,
        CASE WHEN expired_days IS NULL THEN 1
            ELSE LEAST(1, GREATEST(0, 1 - expired_days / %(trailoff_days)s::float8)) END AS trailoff,
        CASE WHEN consolidated_into_id IS NOT NULL THEN LEAST(pinned, %(consolidated)s::float8)
            WHEN pinned IS NOT NULL THEN pinned
            WHEN kind = 'profile' THEN %(profile)s::float8 END AS fixed
    FROM measured
), summed AS (
    SELECT *, (value + hub + entity_hub + mention + newness) * recency * temporal * trailoff AS raw
    FROM components
), scored AS (
    SELECT *, CASE WHEN trailoff > 0 THEN 1 / (1 + exp(%(centre)s::float8 - raw)) ELSE 0 END
        AS by_formula
    FROM summed
)
SELECT id, effective_access, value, hub, entity_hub, mention, newness, recency, temporal,
    trailoff, raw, by_formula, fixed, COALESCE(fixed, by_formula) AS importance
FROM scored
-- rescore
WITH final AS ({parts}), held AS (
    SELECT m.id, f.importance FROM memories_memory m JOIN final f ON f.id = m.id
    WHERE abs(m.importance - f.importance) > %(least_change)s
    FOR NO KEY UPDATE OF m SKIP LOCKED
)
UPDATE memories_memory m SET importance = held.importance FROM held WHERE m.id = held.id
