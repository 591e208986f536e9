-- $1 queue, $2 sorted keys, $3 tokens. Begins all runs if each row has the lease and has not begun.
-- Otherwise begins none. Rows are changed by their place, as in set.sql, and are not locked before.
-- If another transaction has changed a row since the statement began, the row has moved: then the
-- division by zero undoes the statement. The write repeats the conditions, because servers before
-- 15.15 (13.23, 14.20, 16.11, 17.7) do not compare the place again with that of the new version.
-- Returns the number of changed rows.
WITH held AS MATERIALIZED (
    SELECT found.ctid, its.token
    FROM unnest($2::bytea[], $3::bigint[]) AS its (key, token), LATERAL (
        SELECT ctid FROM wheelhouse.job
        WHERE queue = $1 AND job.key = its.key AND job.token = its.token AND state = 0
        LIMIT 1
    ) AS found
), written AS (
    UPDATE wheelhouse.job SET state = 1, attempt = attempt + 1 FROM held
    WHERE job.ctid = held.ctid AND job.token = held.token AND job.state = 0
        AND (SELECT count(*) FROM held) = cardinality($2::bytea[])
    RETURNING 1
)
SELECT count(*) / CASE WHEN count(*) IN (0, cardinality($2::bytea[])) THEN 1 ELSE 0 END FROM written
