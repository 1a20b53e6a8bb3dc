-- empty: Empties a schema, except for extensions: other schemas may depend on them, and only a superuser
-- could create them again.
-- counts: A statement for each table of a schema, which returns its name and how many rows it has.
-- empty
DO $do$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY coalesce((
        SELECT array_agg(told ORDER BY told DESC) FROM (
            SELECT oid, 'TABLE IF EXISTS ' || oid::regclass AS told FROM pg_class
            WHERE relnamespace = {{schema}}::regnamespace AND relkind IN ('r', 'p')
            UNION ALL SELECT oid, 'SEQUENCE IF EXISTS ' || oid::regclass FROM pg_class
            WHERE relnamespace = {{schema}}::regnamespace AND relkind = 'S'
            UNION ALL SELECT oid, 'ROUTINE IF EXISTS ' || oid::regprocedure FROM pg_proc
            WHERE pronamespace = {{schema}}::regnamespace
        ) own WHERE NOT EXISTS (SELECT FROM pg_depend WHERE objid = own.oid AND deptype = 'e')
    ), '{{{{}}}}') LOOP
        EXECUTE 'DROP ' || one || ' CASCADE';
    END LOOP;
END
$do$;
-- counts
SELECT format('SELECT %%L, count(*) FROM %%I.%%I', relname, nspname, relname)
FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname = {{schema}} AND relkind IN ('r', 'p') AND NOT relispartition
