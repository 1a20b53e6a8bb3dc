-- steps: those that leave the sources. The weight of a step is that of its kind and direction times
-- the edge's confidence.
-- remove: both rows of an edge go by its stated one. A user whose lock another holds is left alone: a
-- walk never waits for a writer, and the next one meets the edge again.
-- steps
SELECT e.id, e.kind, e.source_id, e.target_id, e.inverse, e.confidence, e.reason,
    COALESCE(w.weight, {unknown}) * e.confidence AS weight, m.status
FROM memories_edge e
JOIN memories_memory m ON m.end_user_id = e.end_user_id AND m.id = e.target_id
LEFT JOIN unnest('{{{kinds}}}'::text[], '{{{forth}}}'::float8[], '{{{back}}}'::float8[]) k (kind, forth, back)
    ON k.kind = CASE WHEN starts_with(e.kind, '{entity}') THEN '{entity}' ELSE e.kind END
CROSS JOIN LATERAL (SELECT CASE WHEN e.inverse THEN k.back ELSE k.forth END AS weight) w
WHERE e.end_user_id = %(end_user)s AND e.source_id = ANY(%(sources)s)
    AND (%(wanted)s::text[] = '{{}}' OR e.kind = ANY(%(wanted)s)
         OR '{entity}' = ANY(%(wanted)s) AND starts_with(e.kind, '{entity}'))
ORDER BY weight DESC, e.created_at DESC, e.id DESC LIMIT {most}
-- remove
WITH held AS (
    SELECT id FROM accounts_enduser WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED)
DELETE FROM memories_edge gone USING held, memories_edge met
WHERE met.id = ANY (%s) AND met.end_user_id = held.id
  AND gone.kind = met.kind
  AND (gone.id = met.id OR (met.inverse AND NOT gone.inverse
       AND gone.source_id = met.target_id AND gone.target_id = met.source_id))
  AND EXISTS (SELECT FROM memories_memory m
              WHERE m.id = met.target_id AND m.status = 'archived')
