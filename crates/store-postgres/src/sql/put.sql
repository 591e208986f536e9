-- $1 queue, $2 keys, then the other columns of each. Generations are drawn in the order of the
-- changes. Rows are inserted in the order of keys, in which they are locked too, so no two
-- transactions wait for each other. Returns a row for each inserted one: a row that another
-- transaction has inserted since then stays.
INSERT INTO wheelhouse.job (queue, key, due, visible_at, occurrence, attempt, state, token, until,
    kind, policy, payload, generation)
SELECT $1::text, its.* FROM (
    SELECT *, nextval('wheelhouse.number') AS generation
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[],
        $7::smallint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bytea[])
        AS given (key, due, visible_at, occurrence, attempt, state, token, until, kind, policy,
            payload)
) AS its ORDER BY key
ON CONFLICT (queue, key) DO NOTHING
RETURNING 1
