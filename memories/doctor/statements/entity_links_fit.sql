-- A memory speaks only of entities of its own user.
SELECT l.end_user_id, 'entity link ' || l.id FROM memories_entitylink l
JOIN memories_entity e ON e.id = l.entity_id
JOIN memories_memory m ON m.id = l.memory_id
WHERE l.end_user_id <> e.end_user_id OR l.end_user_id <> m.end_user_id
