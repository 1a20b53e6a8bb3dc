-- next
WITH tasks AS (
    SELECT task.id, task.key, task.payload, task.lock, u.app_id
    FROM django_q_ormq task
    LEFT JOIN {{of_users}} = nullif(split_part(task.key, ':', 2), '')::bigint
    WHERE task.key = %(name)s OR task.key LIKE %(name)s || ':%%'
), under_way AS MATERIALIZED (
    SELECT key, app_id FROM tasks
    WHERE lock > %(alive)s AND lock > pg_postmaster_start_time() + %(retry)s::interval
), apps AS (
    SELECT app_id, count(*) AS busy FROM under_way GROUP BY app_id
)
SELECT waiting.id, waiting.payload, waiting.lock FROM tasks waiting
LEFT JOIN apps ON apps.app_id IS NOT DISTINCT FROM waiting.app_id
WHERE waiting.lock < %(now)s AND (waiting.key = %(name)s OR waiting.key NOT IN (
    SELECT key FROM under_way))
ORDER BY coalesce(apps.busy, 0), waiting.id LIMIT 1
