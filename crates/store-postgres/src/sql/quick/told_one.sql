-- The end of put_one.sql, with its parameters. Notifies as told.sql does. The present is a scalar
-- subquery: joined with the jobs, it would not bound the search, which would read all due jobs.
RETURNING 1::bigint, visible_at, CASE WHEN (
    SELECT other.visible_at FROM wheelhouse.job AS other
    WHERE other.queue || '' = $1 AND other.kind = $6
        AND other.visible_at > (SELECT micros / 1000 + 20 FROM clock)
        AND other.visible_at < job.visible_at
    ORDER BY other.visible_at DESC LIMIT 1) IS NULL
    OR clock_timestamp() - statement_timestamp() > interval '5 milliseconds'
    THEN pg_notify('wheelhouse', $1::text || ' ' || job.visible_at) END IS NULL
