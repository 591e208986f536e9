-- $1 queue, $2 a clock or null, $3 sorted keys, then the due time or the delay of each. Moves all
-- jobs, as set.sql does, if none of them has begun. Otherwise moves none. See begin.sql. told.sql
-- follows, or written.sql.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros
), held AS MATERIALIZED (
    SELECT found.ctid, coalesce(at, CASE WHEN delay = 0 THEN micros / 1000
        ELSE least((micros + 999) / 1000 + delay, 9007199254740991) END) AS due
    FROM clock, unnest($3::bytea[], $4::bigint[], $5::bigint[]) AS its (key, at, delay), LATERAL (
        SELECT ctid FROM wheelhouse.job
        WHERE queue = $1 AND job.key = its.key AND state = 0 LIMIT 1
    ) AS found
), written AS (
    UPDATE wheelhouse.job SET due = held.due, visible_at = held.due, token = NULL, until = NULL
    FROM held
    WHERE job.ctid = held.ctid AND job.state = 0
        AND (SELECT count(*) FROM held) = cardinality($3::bytea[])
    RETURNING kind, visible_at
)
