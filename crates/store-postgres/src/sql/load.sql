-- $1 queue, $2 keys, $3 a clock or null. The present in microseconds, and the rows, which nobody
-- else changes until the end of the transaction. Sorted, so that two transactions never wait for
-- each other. A key without a row cannot be locked: whoever was beaten to one locks all, alone.sql.
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros,
        pg_advisory_xact_lock_shared(1467508326, hashtext($1::text))
), held AS MATERIALIZED (
    SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind
    FROM wheelhouse.job WHERE queue = $1 AND key = ANY ($2::bytea[]) ORDER BY key FOR UPDATE
)
SELECT clock.micros, held.* FROM clock LEFT JOIN held ON true
