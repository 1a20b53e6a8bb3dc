-- The functions in the schema of this connection, except those of extensions, and the names that
-- triggers have to use: of tables (not of partitions), sequences and functions.
-- own
pronamespace = current_schema()::regnamespace AND prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid
                        AND deptype = 'e')
-- names
SELECT relname, quote_ident(current_schema()) || '.'
    || quote_ident(relname || coalesce('_' || shardid, ''))
FROM pg_class c LEFT JOIN pg_dist_shard ON logicalrelid = c.oid
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
    AND NOT relispartition
UNION
SELECT proname, quote_ident(current_schema()) || '.' || quote_ident(proname) FROM pg_proc p
WHERE {own}
-- functions
SELECT prosrc, pg_get_functiondef(oid) FROM pg_proc p WHERE {own} ORDER BY oid
