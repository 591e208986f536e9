-- $1 queue, $2 kinds, $3 the most jobs, $4 duration of the lease, $5 a clock or null, $6 the
-- visible_at where the search begins, $7 the most bytes of payloads, $8 the number of jobs that
-- these bytes do not bound (0 or 1), $9 the most runs to begin.
-- The jobs are a prefix of the order: both sums only grow. Cancelled rows do not count.
-- Rows that another connection is leasing at the moment are skipped. Tokens are drawn in the order
-- in which jobs are handed out. Rows are changed by their place (ctid), where `found` has locked
-- them: with a join by key, wrong statistics can lead to a plan that reads the whole queue for each
-- row. A row that was changed since the statement began has moved, and is left to the next claim.
-- `drawn` reads `walked`, so that the clock of `walked` is read before any row is changed.
-- The begun runs are a prefix of the jobs: first attempts of pending jobs without a policy, up to
-- the first job that is none of these.
WITH clock AS MATERIALIZED (
    SELECT coalesce($5::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros
), found AS MATERIALIZED (
    SELECT visible.* FROM clock, unnest($2::text[]) AS its (kind), LATERAL (
        SELECT ctid, visible_at, generation, state, token, octet_length(payload) AS bytes,
            state = 0 AND token IS NULL AND attempt = 0 AND policy = '' AS is_plain
        FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at >= $6
            AND visible_at <= clock.micros / 1000
        ORDER BY visible_at, generation LIMIT $3
        FOR UPDATE SKIP LOCKED
    ) AS visible
    ORDER BY visible_at, generation LIMIT $3
), counted AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE state <> 2) OVER up_to_here AS jobs,
        sum(bytes) FILTER (WHERE state <> 2) OVER up_to_here AS sum_of_bytes,
        count(*) FILTER (WHERE state <> 2 AND NOT is_plain) OVER up_to_here AS others
    FROM found
    WINDOW up_to_here AS (ORDER BY visible_at, generation ROWS UNBOUNDED PRECEDING)
), taken AS MATERIALIZED (
    SELECT * FROM counted WHERE jobs <= $8 OR sum_of_bytes <= $7
), walked AS MATERIALIZED (
    SELECT count(*) AS found, max(visible_at) AS last,
        floor(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
            AS took,
        count(*) < (SELECT count(*) FROM found) AS is_cut
    FROM taken
), gone AS (
    DELETE FROM wheelhouse.job USING taken
    WHERE job.ctid = taken.ctid AND taken.state = 2
), drawn AS MATERIALIZED (
    SELECT ctid, nextval('wheelhouse.number') AS token,
        least((clock.micros + 999) / 1000 + $4::bigint, 9007199254740991) AS until,
        taken.state < 2 AND taken.token IS NOT NULL AS was_lost,
        (taken.others = 0 AND taken.jobs <= $9)::integer AS begun
    FROM taken, clock, walked WHERE state <> 2
), leased AS (
    UPDATE wheelhouse.job SET state = drawn.begun, attempt = attempt + drawn.begun,
        token = drawn.token, until = drawn.until, visible_at = drawn.until
    FROM drawn WHERE job.ctid = drawn.ctid
    RETURNING job.due, job.visible_at, job.generation, job.occurrence, job.attempt, job.state,
        job.token, job.until, job.key, job.kind, job.payload, job.policy, drawn.was_lost
)
SELECT clock.micros / 1000 AS now, walked.*, leased.*
FROM clock CROSS JOIN walked LEFT JOIN leased ON true ORDER BY token
