-- $1 queue, $2 sorted keys, $3 the token of each run that has ended, or null for a job to cancel.
-- Removes all rows if each has its lease and was not replaced, or is to be cancelled and has not
-- begun. Otherwise removes none. See begin.sql. Returns the number of removed rows.
WITH held AS MATERIALIZED (
    SELECT found.ctid, its.token
    FROM unnest($2::bytea[], $3::bigint[]) AS its (key, token), LATERAL (
        SELECT ctid FROM wheelhouse.job
        WHERE queue = $1 AND job.key = its.key
            AND CASE WHEN its.token IS NULL THEN state = 0
                ELSE job.token = its.token AND state < 3 END
        LIMIT 1
    ) AS found
), written AS (
    DELETE FROM wheelhouse.job USING held
    WHERE job.ctid = held.ctid
        AND CASE WHEN held.token IS NULL THEN job.state = 0
            ELSE job.token = held.token AND job.state < 3 END
        AND (SELECT count(*) FROM held) = cardinality($2::bytea[])
    RETURNING 1
)
SELECT count(*) / CASE WHEN count(*) IN (0, cardinality($2::bytea[])) THEN 1 ELSE 0 END FROM written
