-- columns: of a table, without generated ones.
-- triggers: that derive data, which is copied instead; a shard of Citus adds its number to names.
-- columns
SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0
    AND NOT attisdropped AND attgenerated = '' ORDER BY attname
-- triggers
SELECT coalesce(array_agg(tgname{{number}}), '{{{{}}}}')::text FROM pg_trigger {{shards}}
WHERE tgname LIKE 'pgtrigger%' AND NOT tgisinternal
