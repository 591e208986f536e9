-- $1 queue, $2 a clock or null, $3 keys, then the due time or the delay, kind, policy and payload
-- of each. Inserts all jobs and notifies, as put.sql and notify.sql do, if no row has one of the
-- keys. Otherwise inserts none. If another transaction has inserted one of the keys since the
-- statement began, the unique index refuses the statement. Also notifies if it has waited: an
-- earlier job that it still sees may have been claimed meanwhile. Returns the number of inserted
-- rows, and when the first of them is visible.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros,
        pg_advisory_xact_lock_shared(1467508326, hashtext($1::text))
), given AS MATERIALIZED (
    SELECT its.*, coalesce(at, CASE WHEN delay = 0 THEN micros / 1000
        ELSE least((micros + 999) / 1000 + delay, 9007199254740991) END) AS due
    FROM clock, unnest($3::bytea[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bytea[])
        AS its (key, at, delay, kind, policy, payload)
    WHERE NOT EXISTS (SELECT FROM wheelhouse.job WHERE queue = $1 AND key = ANY ($3::bytea[]))
), written AS (
    INSERT INTO wheelhouse.job (queue, key, due, visible_at, occurrence, attempt, state, kind,
        policy, payload, generation)
    SELECT $1, key, due, due, 0, 0, 0, kind, policy, payload, generation
    FROM (SELECT *, nextval('wheelhouse.number') AS generation FROM given) AS its ORDER BY key
    RETURNING kind, visible_at
), told AS MATERIALIZED (
    SELECT pg_notify('wheelhouse', $1)
    FROM (SELECT kind, min(visible_at) AS at FROM written GROUP BY kind) AS its, clock
    WHERE (
        SELECT visible_at FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at > micros / 1000
            AND visible_at < its.at
        LIMIT 1) IS NULL
        OR clock_timestamp() - statement_timestamp() > interval '5 milliseconds'
    LIMIT 1
)
SELECT count(*), min(visible_at), (SELECT count(*) FROM told) FROM written
