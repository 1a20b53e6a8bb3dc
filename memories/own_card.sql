-- family: Written by hand, because building it with the ORM took longer than running it.
-- family
SELECT name, relationship FROM contacts_contact
WHERE end_user_id = %s AND merged_into_id IS NULL AND archived_at IS NULL AND id = ANY(ARRAY(
    SELECT contact_id FROM contacts_contactkey WHERE end_user_id = %s AND key = ANY(%s)))
ORDER BY mention_count DESC, id LIMIT %s
