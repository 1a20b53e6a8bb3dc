-- Beside each stated edge lies its mirror, from the target back to the source and just as
-- sure; and no mirror lies alone.
SELECT e.end_user_id, e.id FROM memories_edge e
LEFT JOIN memories_edge mirror ON mirror.source_id = e.target_id
    AND mirror.kind = e.kind AND mirror.target_id = e.source_id
    AND mirror.inverse = NOT e.inverse AND mirror.end_user_id = e.end_user_id
WHERE (mirror.confidence, mirror.reason) IS DISTINCT FROM (e.confidence, e.reason)
