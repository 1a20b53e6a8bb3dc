-- Two memories that an entity joins both speak of it.
SELECT e.end_user_id, e.id FROM memories_edge e
WHERE NOT e.inverse AND starts_with(e.kind, %(shares)s) AND 2 > (
    SELECT count(DISTINCT l.memory_id) FROM memories_entitylink l
    JOIN memories_entity n ON n.id = l.entity_id
    WHERE l.memory_id IN (e.source_id, e.target_id)
      AND n.name = substr(e.kind, length(%(shares)s) + 1))
