-- $1 queue, $2 keys, then the changed columns of each. Each row is looked up by its key: without
-- the limit the planner could read the whole queue, if wrong statistics say that it is short. Then
-- the row is updated by its place (ctid), which cannot change, because load.sql has locked the row.
UPDATE wheelhouse.job SET due = its.due, visible_at = its.visible_at, occurrence = its.occurrence,
    attempt = its.attempt, state = its.state, token = its.token, until = its.until
FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::smallint[],
    $8::bigint[], $9::bigint[])
    AS its (key, due, visible_at, occurrence, attempt, state, token, until), LATERAL (
    SELECT ctid FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1
) AS found
WHERE job.ctid = found.ctid
