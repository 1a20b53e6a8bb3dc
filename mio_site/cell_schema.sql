-- behind: sequences of 64 bits that have not reached the range of this cell yet.
-- behind
SELECT seqrelid::regclass::text FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = current_schema()::regnamespace AND seqtypid = 'bigint'::regtype
    AND coalesce(pg_sequence_last_value(seqrelid), 0) < %(first)s
