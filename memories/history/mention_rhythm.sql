-- days
WITH told AS (
    SELECT DISTINCT latest.contact_id,
           ((m.said_at AT TIME ZONE 'UTC') + m.said_offset * interval '1 minute')::date AS day
    FROM unnest(%s::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT contact_id, memory_id FROM memories_link
        WHERE contact_id = wanted.id AND NOT rejected AND end_user_id = %s
        ORDER BY id DESC LIMIT %s) latest
    JOIN memories_memory m ON m.id = latest.memory_id
    WHERE m.kind = 'fact' AND m.status <> 'archived'
), gaps AS (
    SELECT contact_id, day, day - lag(day) OVER (PARTITION BY contact_id ORDER BY day) AS gap
    FROM told
)
SELECT contact_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY gap), %s::date - max(day)
FROM gaps GROUP BY contact_id HAVING count(*) >= %s
