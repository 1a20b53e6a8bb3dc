-- people: One index lookup for each end user, whatever the planner estimates for the words.
-- people
SELECT found.contact_id FROM ({{users}}) AS visible (id) CROSS JOIN LATERAL (
    SELECT contact_id FROM contacts_contactkey
    WHERE end_user_id = visible.id AND key LIKE %s LIMIT %s) AS found LIMIT %s
-- memories
SELECT found.memory_id FROM ({{users}}) AS visible (id) CROSS JOIN LATERAL (
    SELECT memory_id FROM memories_posting
    WHERE end_user_id = visible.id AND token = ANY(%s) AND status = 'active'
    GROUP BY memory_id HAVING count(*) = %s LIMIT %s) AS found LIMIT %s
