-- No value of a profile rests on a memory that is outdated, archived, gone, or not about
-- the contact.
SELECT DISTINCT c.end_user_id, c.id FROM contacts_contact c
CROSS JOIN LATERAL (
    SELECT jsonb_path_query(c.attributes, '$.*[*].sources[*]') #>> '{}' AS id
    UNION SELECT jsonb_array_elements_text(c.personality_sources)
    UNION SELECT jsonb_path_query(c.timeline, '$[*].sources[*]') #>> '{}') source
LEFT JOIN memories_memory m ON m.id = source.id::uuid AND m.end_user_id = c.end_user_id
WHERE c.merged_into_id IS NULL
  AND (m.status IS DISTINCT FROM 'active' OR NOT source.id::uuid = ANY (c.memory_ids))
