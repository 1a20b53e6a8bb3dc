-- What was merged into another contact has no memories, relations, open questions or
-- work of its own, no memory speaks for it or of it, and its id leads to a survivor.
WITH RECURSIVE led (id, at) AS (
    SELECT id, merged_into_id FROM contacts_contact WHERE merged_into_id IS NOT NULL
    UNION SELECT led.id, c.merged_into_id FROM led JOIN contacts_contact c ON c.id = led.at
    WHERE c.merged_into_id IS NOT NULL)
SELECT c.end_user_id, c.id FROM contacts_contact c
WHERE c.merged_into_id IS NOT NULL AND (
    NOT EXISTS (SELECT FROM led JOIN contacts_contact s ON s.id = led.at
                WHERE led.id = c.id AND s.merged_into_id IS NULL)
    OR EXISTS (SELECT FROM memories_link l WHERE l.contact_id = c.id AND NOT l.rejected)
    OR EXISTS (SELECT FROM contacts_relation r
               WHERE c.id IN (r.subject_id, r.object_id))
    OR EXISTS (SELECT FROM contacts_suggestion s
               WHERE c.id IN (s.first_id, s.second_id) AND s.state <> 'merged')
    OR EXISTS (SELECT FROM memories_consolidation w
               WHERE w.contact_id = c.id AND w.state IN ('pending', 'failed'))
    OR EXISTS (SELECT FROM memories_memory m
               WHERE m.end_user_id = c.end_user_id AND m.status = 'active'
                 AND m.content_hash = 'profile:' || c.id)
    OR EXISTS (SELECT FROM memories_memory m
               WHERE m.end_user_id = c.end_user_id AND m.facts @>
                 jsonb_build_array(jsonb_build_object('person', c.id::text))))
