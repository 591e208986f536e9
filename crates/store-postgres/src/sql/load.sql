-- $1 queue, $2 keys in their order, $3 a clock or null. The present in microseconds, whether texts
-- can have each character, and the rows, which no other transaction changes until the end of this
-- one. A key without a row cannot be locked: a transaction that was beaten to one locks all,
-- alone.sql.
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
