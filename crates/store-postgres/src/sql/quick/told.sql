-- The end of put.sql and move.sql, with their parameters. Notifies as notify.sql does, and also if
-- the statement has waited: an earlier job that it still sees may have been claimed in this time.
-- The division by zero undoes a statement that has written some rows, but not all. Returns the
-- number of written rows, and when the first of them is visible.
, told AS MATERIALIZED (
    SELECT pg_notify('wheelhouse', $1::text || ' ' || min(its.at))
    FROM (SELECT kind, min(visible_at) AS at FROM written GROUP BY kind) AS its, clock
    WHERE (
        SELECT visible_at FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at > micros / 1000 + 20
            AND visible_at < its.at
        ORDER BY visible_at DESC LIMIT 1) IS NULL
        OR clock_timestamp() - statement_timestamp() > interval '5 milliseconds'
    HAVING count(*) > 0
)
SELECT count(*) / CASE WHEN count(*) IN (0, cardinality($3::bytea[])) THEN 1 ELSE 0 END,
    min(visible_at), (SELECT count(*) FROM told)
FROM written
