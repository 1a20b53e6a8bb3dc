-- hits
WITH found AS (
    SELECT key, how, text, contact_id FROM (
        SELECT key, how, text, contact_id,
               row_number() OVER (PARTITION BY key ORDER BY contact_id) AS place
        FROM contacts_contactkey WHERE end_user_id = %(end_user)s AND key = ANY (%(keys)s)
    ) named WHERE place <= %(most)s
    UNION ALL (
        SELECT key, how, text, contact_id FROM contacts_contactkey
        WHERE end_user_id = %(end_user)s AND key = ANY (%(days)s)
        ORDER BY contact_id LIMIT %(most)s)
    UNION ALL
    SELECT '', 'conversation', '', id FROM contacts_contact
    WHERE end_user_id = %(end_user)s AND id = ANY (%(contacts)s::uuid[]) AND merged_into_id IS NULL
)
SELECT found.key, found.how, found.text,
       (SELECT {c} FROM contacts_contact c WHERE c.id = found.contact_id),
       ARRAY(SELECT json_build_object(
                 'kind', r.kind, 'subject', {s}, 'object', {o})
             FROM contacts_relation r
             JOIN contacts_contact s ON s.id = r.subject_id
             JOIN contacts_contact o ON o.id = r.object_id
             WHERE %(related)s AND found.contact_id IN (r.subject_id, r.object_id) ORDER BY r.id)
FROM found
