UPDATE contacts_contact c SET memory_ids = ARRAY(
    SELECT l.memory_id FROM memories_link l
    WHERE l.contact_id = c.id AND NOT l.rejected ORDER BY l.id)
WHERE c.id = %(subject)s
