-- Written by hand, because to put it together took longer than to run it. Ids are read into an array
-- first, because PostgreSQL reads all of a user's rows for "these or those that …". With each outdated
-- memory comes what took its place.
-- people
ARRAY(SELECT {known}
      FROM memories_link l JOIN contacts_contact c ON c.id = l.contact_id
      WHERE l.memory_id = m.id AND NOT l.rejected AND l.confidence >= {doubtful}
          AND c.merged_into_id IS NULL AND c.archived_at IS NULL ORDER BY l.id)
-- loaded
WITH step AS MATERIALIZED ({{steps}}), beside AS MATERIALIZED (
    SELECT target_id FROM step WHERE status <> 'archived' AND target_id <> ALL(%(sources)s)
    GROUP BY target_id ORDER BY max(weight) DESC, target_id LIMIT %(most_beside)s)
SELECT {columns},
    EXISTS (SELECT FROM memories_edge e WHERE e.source_id = m.id AND e.kind = 'supersedes'
            AND NOT e.inverse),
    CASE WHEN m.status = 'outdated' THEN ARRAY(
        SELECT e.source_id FROM memories_edge e
        WHERE e.target_id = m.id AND e.kind = 'supersedes' AND NOT e.inverse ORDER BY e.id DESC)
    END,
    ARRAY(SELECT json_build_array(s.id, kind, source_id, target_id, inverse, confidence, reason, weight)
          FROM step s JOIN beside USING (target_id) WHERE target_id = m.id),
    ARRAY(SELECT id FROM step WHERE status = 'archived' AND kind <> ALL(%(lineage)s)),
    {{people}}
FROM memories_memory m
WHERE m.id = ANY(ARRAY(SELECT unnest(ARRAY[id, consolidated_into_id])
                       FROM memories_memory WHERE id = ANY(%(ids)s::uuid[] || ARRAY(SELECT target_id FROM beside))))
    AND m.end_user_id = %(end_user)s AND m.status = ANY(%(statuses)s) AND {{wanted}}
