-- No link, edge, key or relation crosses from one end user to another.
SELECT l.end_user_id, 'link ' || l.id FROM memories_link l
JOIN contacts_contact c ON c.id = l.contact_id
JOIN memories_memory m ON m.id = l.memory_id
WHERE l.end_user_id <> c.end_user_id OR l.end_user_id <> m.end_user_id
UNION ALL
SELECT e.end_user_id, 'edge ' || e.id FROM memories_edge e
JOIN memories_memory s ON s.id = e.source_id
JOIN memories_memory t ON t.id = e.target_id
WHERE e.end_user_id <> s.end_user_id OR e.end_user_id <> t.end_user_id
UNION ALL
SELECT k.end_user_id, 'key ' || k.id FROM contacts_contactkey k
JOIN contacts_contact c ON c.id = k.contact_id WHERE k.end_user_id <> c.end_user_id
UNION ALL
SELECT r.end_user_id, 'relation ' || r.id FROM contacts_relation r
JOIN contacts_contact s ON s.id = r.subject_id
JOIN contacts_contact o ON o.id = r.object_id
WHERE r.end_user_id <> s.end_user_id OR r.end_user_id <> o.end_user_id
