-- login: Citus works for a role at other nodes over a connection of its own: two in one transaction would
-- not see each other's rows. There Mio logs in as a role for which the policies hold, and keeps it.
-- state: Partitions too: pg_dump reads them directly.
-- login
SELECT to_regclass('accounts_enduser') IS NOT NULL, EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'), (
    SELECT rolname FROM pg_roles WHERE rolname = {role} AND pg_has_role(oid, 'MEMBER')
        AND has_table_privilege(oid, to_regclass('accounts_enduser'), 'INSERT'))
-- state
SELECT c.relname, coalesce(parent.relname, c.relname),
    c.relrowsecurity AND c.relforcerowsecurity AS enabled,
    obj_description(p.oid, 'pg_policy') AS shown
FROM pg_class c
LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = %(policy)s
LEFT JOIN pg_inherits ON inhrelid = c.oid
LEFT JOIN pg_class parent ON parent.oid = inhparent
WHERE c.relkind IN ('r', 'p')
    AND coalesce(inhparent, c.oid) IN (SELECT to_regclass(name) FROM unnest(%(tables)s::text[]) name)
ORDER BY c.relname
-- grants
GRANT USAGE ON SCHEMA {{schema}} TO {{role}};
REVOKE ALL ON ALL TABLES IN SCHEMA {{schema}} FROM {{role}};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {{schema}} TO {{role}};
GRANT SELECT, INSERT, UPDATE, DELETE ON {{tables}} TO {{role}}
