-- $1 queue, $2 keys, and of each what changes.
UPDATE wheelhouse.job SET due = its.due, visible_at = its.visible_at, occurrence = its.occurrence,
    attempt = its.attempt, state = its.state, token = its.token, until = its.until
FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::smallint[],
    $8::bigint[], $9::bigint[])
    AS its (key, due, visible_at, occurrence, attempt, state, token, until)
WHERE job.queue = $1 AND job.key = its.key
