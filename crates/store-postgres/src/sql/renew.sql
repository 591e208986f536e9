-- As load.sql, for renewals, which must not wait for other transactions: neither for a lock of the
-- queue, since they insert no row, nor for rows. If another transaction has locked a row, it
-- returns only the key of that row.
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::bigint * 1000,
        floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS micros
), held AS MATERIALIZED (
    SELECT found.* FROM unnest($2::bytea[]) AS its (key), LATERAL (
        SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind
        FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS found
), stored AS MATERIALIZED (
    SELECT found.key FROM unnest($2::bytea[]) AS its (key), LATERAL (
        SELECT key FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1
    ) AS found
)
SELECT clock.micros, true, held.due, held.visible_at, held.generation, held.occurrence,
    held.attempt, held.state, held.token, held.until, stored.key, held.kind
FROM clock LEFT JOIN (stored LEFT JOIN held ON held.key = stored.key) ON true
