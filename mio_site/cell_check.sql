-- stray: Rows of users who are not in this cell.
-- stray
SELECT end_user_id, count(*) FROM {{table}} t WHERE end_user_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM accounts_enduser u WHERE u.id = t.end_user_id)
GROUP BY end_user_id
-- out_of_range
SELECT seqrelid::regclass::text FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = current_schema()::regnamespace AND seqtypid = 'bigint'::regtype
    AND coalesce(pg_sequence_last_value(seqrelid), %(first)s) NOT BETWEEN %(first)s AND %(last)s
