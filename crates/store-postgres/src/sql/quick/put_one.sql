-- $1 queue, $2 a clock or null, $3 key, $4 due time or $5 delay, $6 kind, $7 policy, $8 payload.
-- The same as put.sql for a single job, with two thirds of its processor time. Returns no row if a
-- row has the key. told_one.sql follows, or written_one.sql.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::bigint * 1000,
        round(date_part('epoch', clock_timestamp()) * 1000000)::bigint) AS micros,
        pg_advisory_xact_lock_shared(1467508326, hashtext($1::text))
)
INSERT INTO wheelhouse.job (queue, key, due, visible_at, occurrence, attempt, state, kind, policy,
    payload, generation)
SELECT $1, $3, due, due, 0, 0, 0, $6, $7, $8, nextval('wheelhouse.number')
FROM (
    SELECT coalesce($4, CASE WHEN $5 = 0 THEN micros / 1000
        ELSE least((micros + 999) / 1000 + $5, 9007199254740991) END) AS due
    FROM clock
) AS its
ON CONFLICT (queue, key) DO NOTHING
