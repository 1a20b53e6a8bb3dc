-- The statements and triggers of links.py, each after a line with its name.
--
-- added, removed, changed: the array of Mio v2 is derived from the links by the database itself, so
-- that no code path can let the two disagree. One UPDATE per contact and statement, whatever the rows.
-- own_links: whoever writes memory_ids directly, a stale instance's save() say, gets what the links
-- say. The triggers on links bring the right array themselves. They are told apart in the condition,
-- not in the function: pgtrigger begins each with a subtransaction that fails, which takes time
-- in proportion to the foreign keys still to be checked, and a bulk insert has many.
-- notes, plans: each save of a contact reads both, and to compose them takes Django longer than the
-- database to answer. A memory is looked up by its key, once for each link: the planner of a young
-- database, which has no statistics yet, would join by reading all memories for each.
-- mirror_added, mirror_removed: everything beside a memory, in either direction, is one range of one
-- index. The number of a mirror is the edge's in the other half of the cell's ids: a shard of Citus
-- gives none of itself, and its worker those of others.
-- added
    UPDATE contacts_contact c SET memory_ids = c.memory_ids || added.ids
    FROM (SELECT contact_id, array_agg(memory_id ORDER BY id) AS ids
          FROM new_rows WHERE NOT rejected GROUP BY contact_id) added
    WHERE c.id = added.contact_id;
    RETURN NULL;
-- removed
    UPDATE contacts_contact c
    SET memory_ids = ARRAY(
        SELECT kept FROM unnest(c.memory_ids) WITH ORDINALITY AS old (kept, place)
        WHERE NOT EXISTS (SELECT FROM unnest(removed.ids) AS gone WHERE gone = kept)
        ORDER BY place)
    FROM (SELECT contact_id, array_agg(memory_id) AS ids
          FROM old_rows WHERE NOT rejected GROUP BY contact_id) removed
    WHERE c.id = removed.contact_id;
    RETURN NULL;
-- changed
    UPDATE contacts_contact c
    SET memory_ids = ARRAY(
        SELECT link.memory_id FROM memories_link link
        WHERE link.contact_id = c.id AND NOT link.rejected ORDER BY link.id)
    WHERE c.id IN (
        SELECT unnest(ARRAY[was.contact_id, now.contact_id])
        FROM old_rows was JOIN new_rows now USING (id)
        WHERE (was.contact_id, was.memory_id, was.rejected)
              IS DISTINCT FROM (now.contact_id, now.memory_id, now.rejected));
    RETURN NULL;
-- own_links
    NEW.memory_ids := ARRAY(
        SELECT link.memory_id FROM memories_link link
        WHERE link.contact_id = NEW.id AND NOT link.rejected ORDER BY link.id);
    RETURN NEW;
-- notes
    SELECT says.content, says.facts, says.brackets, says.speaker, says.said_on
    FROM (
        SELECT id, memory_id, consolidated_at FROM memories_link
        WHERE contact_id = %s AND NOT rejected AND confidence >= {doubtful}
        ORDER BY id DESC LIMIT {read}) link
    CROSS JOIN LATERAL (
        SELECT content, facts, brackets, speaker,
            (said_at AT TIME ZONE 'UTC' + make_interval(mins => said_offset))::date AS said_on
        FROM memories_memory
        WHERE id = link.memory_id AND status = 'active' AND kind = 'fact'
            AND (link.consolidated_at IS NULL OR brackets IS NOT NULL)
            AND ({ahead}) IS NOT TRUE
        LIMIT 1) says
    ORDER BY link.id DESC LIMIT {shown}
-- plans
    SELECT GREATEST(happens_at, valid_from) AS begins, happens_until, content
    FROM memories_link link
    JOIN memories_memory memory ON memory.id = link.memory_id
    WHERE memory.end_user_id = %s AND status = 'active' AND kind = 'fact' AND {ahead}
        AND link.contact_id = %s AND NOT link.rejected AND link.confidence >= {doubtful}
    ORDER BY begins, memory.id LIMIT %s
-- mirror_added
    -- The mirrors' own statement ends here; a trigger of statements runs even for no row.
    IF NOT EXISTS (SELECT FROM new_rows WHERE NOT inverse) THEN RETURN NULL; END IF;
    INSERT INTO memories_edge
        (id, end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)
    SELECT id + {half}, end_user_id, target_id, source_id, kind, true, reason,
        confidence, created_at
    FROM new_rows WHERE NOT inverse
    ON CONFLICT DO NOTHING;
    RETURN NULL;
-- mirror_removed
    IF NOT EXISTS (SELECT FROM old_rows WHERE NOT inverse) THEN RETURN NULL; END IF;
    DELETE FROM memories_edge mirror USING old_rows gone
    WHERE NOT gone.inverse AND mirror.inverse AND mirror.kind = gone.kind
        AND mirror.source_id = gone.target_id AND mirror.target_id = gone.source_id;
    RETURN NULL;
