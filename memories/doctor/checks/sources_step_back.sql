-- A memory that a profile speaks for is at the floor, and the profile is there and of
-- someone whom the memory is about.
SELECT m.end_user_id, m.id FROM memories_memory m
LEFT JOIN memories_memory p ON p.id = m.consolidated_into_id
    AND p.end_user_id = m.end_user_id AND p.kind = 'profile'
WHERE m.consolidated_into_id IS NOT NULL AND (m.importance > %(floor)s OR NOT EXISTS (
    SELECT FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected
    AND p.content_hash = 'profile:' || l.contact_id))
