-- $1 queue, $2 keys, $3 reasons, $4 the present.
INSERT INTO wheelhouse.dead (queue, generation, key, kind, due, occurrence, attempt, policy,
    payload, reason, at)
SELECT job.queue, generation, job.key, kind, due, occurrence, attempt, policy, payload, its.reason,
    $4::bigint
FROM unnest($2::bytea[], $3::text[]) AS its (key, reason)
JOIN wheelhouse.job ON job.queue = $1 AND job.key = its.key
