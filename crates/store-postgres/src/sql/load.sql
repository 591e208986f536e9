-- $1 queue, $2 sorted keys, $3 a clock or null. Returns the present in microseconds, whether texts
-- can have all characters, and the rows. It locks the rows until the end of the transaction. A key
-- without a row cannot be locked: if another transaction inserts it first, this one is repeated
-- with a lock of the whole queue (lock_queue.sql).
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros,
        getdatabaseencoding() IN ('UTF8', 'SQL_ASCII') AS holds_all,
        pg_advisory_xact_lock_shared(1467508326, hashtext($1::text))
), held AS MATERIALIZED (
    SELECT found.* FROM unnest($2::bytea[]) AS its (key), LATERAL (
        SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind
        FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1 FOR UPDATE
    ) AS found
)
SELECT clock.micros, clock.holds_all, held.* FROM clock LEFT JOIN held ON true
