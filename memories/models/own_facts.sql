-- What the triggers of own_facts.py do.
-- entries: those that the facts of a memory give; each holds for its own times, else for those of its
-- memory.
-- latest: the entries that are kept of these.
-- add: what a memory states is added to what is kept, which takes as long however much is known.
-- read: only where something that is kept changes or goes, all memories that state something are read.
-- entries
    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', {{memory}}.id,
            'value', left(fact ->> 'value', {longest}), 'said', {{memory}}.said_at,
            'since', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_from')::timestamptz
                    ELSE {{memory}}.valid_from END, 'until', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_to')::timestamptz
                    ELSE {{memory}}.valid_to END)) AS entry, place
    FROM jsonb_array_elements({{memory}}.facts) WITH ORDINALITY AS stated (fact, place)
    WHERE {{memory}}.status = 'active' AND {{memory}}.kind = 'fact' AND fact ->> 'key' IN ({keys})
        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL
-- latest
COALESCE((
        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)
        FROM (
            SELECT *, row_number() OVER (
                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank
            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM ({{entries}}) one) dated
            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked
        WHERE rank <= {most}), '[]')
-- kept
SELECT entry, place FROM jsonb_array_elements(own_facts) WITH ORDINALITY AS kept (entry, place)
-- stated
SELECT one.* FROM memories_memory memory CROSS JOIN LATERAL ({{entries}}) one
        WHERE memory.end_user_id = {{row}}.end_user_id AND {{states}}
-- add
    UPDATE accounts_enduser SET own_facts = {{latest}}
    WHERE id = NEW.end_user_id;
-- read
UPDATE accounts_enduser SET own_facts = {{latest}} WHERE id = {{row}}.end_user_id
        AND own_facts @> jsonb_build_array(jsonb_build_object('memory', {{row}}.id));
