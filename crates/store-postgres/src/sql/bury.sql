-- $1 queue, $2 keys, $3 reasons, $4 the present, $5 attempts. Rows are looked up one by one, as in
-- set.sql.
INSERT INTO wheelhouse.dead (queue, generation, key, kind, due, occurrence, attempt, policy,
    payload, reason, at)
SELECT found.queue, generation, found.key, kind, due, occurrence, its.attempt, policy, payload,
    its.reason, $4::bigint
FROM unnest($2::bytea[], $3::text[], $5::integer[]) AS its (key, reason, attempt), LATERAL (
    SELECT * FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1
) AS found
