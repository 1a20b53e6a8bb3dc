-- still: A task is locked for Conf.RETRY when it is taken, and its row is deleted when it has ended.
-- still
SELECT extract(epoch FROM now() - greatest(
    min(lock), (SELECT max(stopped) FROM django_q_task), pg_postmaster_start_time()))
FROM django_q_ormq WHERE lock <= now() AND NOT EXISTS (
    SELECT FROM django_q_ormq WHERE lock > greatest(
        now(), now() + %(left)s::interval, pg_postmaster_start_time() + %(retry)s::interval))
HAVING count(*) > 0
