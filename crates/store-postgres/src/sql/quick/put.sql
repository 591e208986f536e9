-- $1 queue, $2 a clock or null, $3 keys, then the due time or the delay, kind, policy and payload
-- of each. Inserts all jobs, as put.sql of transactions does, if no row has one of the keys.
-- Otherwise inserts none. If another transaction has inserted one of the keys since the statement
-- began, the unique index refuses the statement. told.sql follows, or written.sql.
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
)
