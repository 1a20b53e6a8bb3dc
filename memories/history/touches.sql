-- What changes did to memories, the earliest first; undone ones never count. When a memory became
-- outdated is when that was learnt.
SELECT row->>'id', c.id, c.actor, c.why,
    COALESCE((SELECT min(CASE
                  WHEN r->'after'->>'status' = 'outdated' THEN r->'after'->>'outdated_at'
                  WHEN c.verb = 'outdate' THEN (
                      SELECT max(ended #>> '{}')
                      FROM jsonb_path_query(r->'after', '$.facts[*].outdated_at') ended) END)
              FROM jsonb_array_elements(c.rows) r WHERE r->>'model' = 'memories.memory'
             )::timestamptz, c.created_at) AS at,
    row->'before'
FROM accounts_change c CROSS JOIN LATERAL jsonb_array_elements(c.rows) row
WHERE c.end_user_id = %s AND c.undone_at IS NULL AND row->>'model' = 'memories.memory'
    AND row->>'id' = ANY(%s)
ORDER BY c.created_at, c.id
