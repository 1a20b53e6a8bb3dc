-- latest
SELECT {shown}, EXISTS (
    SELECT FROM memories_edge e
    WHERE e.source_id = m.id AND e.kind = 'supersedes' AND NOT e.inverse)
FROM memories_memory m
WHERE end_user_id = %(end_user)s AND status = 'active' AND kind = 'fact' AND id = ANY(ARRAY(
    SELECT memory_id FROM unnest(%(contacts)s::uuid[]) AS c (id) CROSS JOIN LATERAL (
        SELECT memory_id FROM memories_link
        WHERE contact_id = c.id AND NOT rejected ORDER BY id DESC LIMIT %(window)s) latest))
-- former
SELECT {shown}, e.source_id AS newer
FROM memories_edge e JOIN memories_memory m ON m.id = e.target_id
WHERE e.end_user_id = %(end_user)s AND e.source_id = ANY(%(newer)s) AND e.kind = 'supersedes'
    AND NOT e.inverse AND m.status = 'outdated'
ORDER BY m.outdated_at DESC LIMIT %(most)s
-- following
SELECT DISTINCT ON (at, created_at, next) quote, content FROM (
    SELECT said.id AS quote, m.id AS next, m.content, m.said_at AS at, m.created_at, bool_or(
        EXISTS (
            SELECT FROM memories_link other WHERE other.memory_id = m.id AND NOT other.rejected
                AND NOT EXISTS (
                    SELECT FROM memories_link l WHERE l.memory_id = said.id
                        AND l.contact_id = other.contact_id AND NOT l.rejected))
        OR EXISTS (
            SELECT FROM memories_link l JOIN memories_link denied USING (contact_id)
            WHERE l.memory_id = said.id AND NOT l.rejected
                AND denied.memory_id = m.id AND denied.rejected)
        ) OVER (PARTITION BY said.id ORDER BY m.said_at, m.created_at, m.id) AS moved_on
    FROM memories_memory said CROSS JOIN LATERAL (
        SELECT f.id, f.content, f.said_at, f.created_at FROM memories_memory f
        WHERE f.end_user_id = said.end_user_id
            AND f.said_at >= said.said_at AND f.said_at <= said.said_at + interval '5 minutes'
            AND (f.said_at, f.created_at) > (said.said_at, said.created_at)
            AND f.speaker = said.speaker AND f.status = 'active' AND f.kind = 'fact'
            AND f.brackets IS NOT NULL AND NOT f.facts @? '$[*].outdated_at'
        ORDER BY f.said_at, f.created_at LIMIT 3) m
    WHERE said.end_user_id = %(end_user)s AND said.id = ANY(%(ids)s) AND said.status = 'active'
    ) following
WHERE NOT moved_on AND next <> ALL(%(shown)s)
ORDER BY at, created_at, next
