-- Facts that do not point at the profile that speaks for them, with that profile: of those whom a
-- fact is about, one who is told by a value, an event or a relation that rests on it. None where
-- there is no such profile, or a profile that has yet to read it: whole, after its day.
WITH fact AS MATERIALIZED (
    SELECT m.id, m.end_user_id, m.consolidated_into_id,
        GREATEST(m.happens_at, m.happens_until, m.valid_from) AS over
    FROM memories_memory m
    WHERE m.kind = 'fact' AND ({scope})
), about AS MATERIALIZED (
    SELECT l.memory_id, l.contact_id,
        l.consolidated_at IS NOT NULL AND (l.consolidated_at < fact.over) IS NOT TRUE AS read
    FROM memories_link l JOIN fact ON fact.id = l.memory_id
    WHERE NOT l.rejected AND l.confidence >= {doubtful}
), speaker AS MATERIALIZED (
    SELECT p.id, c.id AS contact_id, c.attributes, c.personality_sources, c.timeline
    FROM contacts_contact c JOIN memories_memory p ON p.end_user_id = c.end_user_id
        AND p.content_hash = 'profile:' || c.id AND p.content_hash >= 'profile'
        AND p.status = 'active'
    WHERE c.id IN (SELECT contact_id FROM about)
), told AS (
    SELECT s.id AS profile_id, s.contact_id, source.id::uuid AS memory_id
    FROM speaker s CROSS JOIN LATERAL (
        SELECT jsonb_path_query(s.attributes, '$.*[*].sources[*]') #>> '{}' AS id
        UNION SELECT jsonb_array_elements_text(s.personality_sources)
        UNION SELECT jsonb_path_query(s.timeline, '$[*].sources[*]') #>> '{}') source
    UNION SELECT s.id, s.contact_id, unnest(r.sources)
    FROM speaker s JOIN contacts_relation r ON s.contact_id IN (r.subject_id, r.object_id)
)
SELECT fact.end_user_id, fact.id,
    CASE WHEN bool_and(about.read) THEN min(told.profile_id::text)::uuid END AS profile_id
FROM fact LEFT JOIN about ON about.memory_id = fact.id
LEFT JOIN told ON told.memory_id = fact.id AND told.contact_id = about.contact_id
GROUP BY fact.end_user_id, fact.id, fact.consolidated_into_id
HAVING bool_or(told.profile_id = fact.consolidated_into_id) IS NOT TRUE
    AND fact.consolidated_into_id IS DISTINCT FROM
        CASE WHEN bool_and(about.read) THEN min(told.profile_id::text)::uuid END
