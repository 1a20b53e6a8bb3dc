-- Contact.memory_ids holds exactly the memories of its unrejected links, in their order.
SELECT c.end_user_id, c.id FROM contacts_contact c
LEFT JOIN LATERAL (
    SELECT array_agg(l.memory_id ORDER BY l.id) AS ids FROM memories_link l
    WHERE l.contact_id = c.id AND NOT l.rejected) links ON true
WHERE c.memory_ids <> COALESCE(links.ids, '{}')
