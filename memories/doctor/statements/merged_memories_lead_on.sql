-- What was merged into another memory is in the archive, about nobody, and no profile
-- speaks for it; the other one says it.
SELECT m.end_user_id, m.id FROM memories_memory m
LEFT JOIN memories_memory into_ ON into_.id = m.merged_into_id
    AND into_.end_user_id = m.end_user_id AND into_.kind = 'fact'
WHERE m.merged_into_id IS NOT NULL AND (
    m.status <> 'archived' OR into_.id IS NULL OR m.consolidated_into_id IS NOT NULL
    OR EXISTS (SELECT FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected))
