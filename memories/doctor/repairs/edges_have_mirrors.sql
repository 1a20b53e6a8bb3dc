-- Mirrors follow from the stated edges: what is wrong goes, what is missing is written.
DELETE FROM memories_edge mirror USING memories_edge wrong
WHERE wrong.id = %(subject)s AND mirror.inverse AND (mirror.id = wrong.id OR (
    NOT wrong.inverse AND mirror.kind = wrong.kind
    AND mirror.source_id = wrong.target_id AND mirror.target_id = wrong.source_id));
WITH stated AS MATERIALIZED (
    SELECT end_user_id, target_id, source_id, kind, reason, confidence, created_at
    FROM memories_edge WHERE id = %(subject)s AND NOT inverse)
INSERT INTO memories_edge
    (end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)
SELECT end_user_id, target_id, source_id, kind, true, reason, confidence, created_at
FROM stated ON CONFLICT DO NOTHING
