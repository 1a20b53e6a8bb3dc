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
