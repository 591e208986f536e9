-- $1 queue, $2 keys, and of each what changes. A row is looked up by its whole key, once for each:
-- the limit keeps the planner from reading a queue at once, which wrong statistics call short.
-- Then it is found by its place, which does not change, since load.sql has locked it.
UPDATE wheelhouse.job SET due = its.due, visible_at = its.visible_at, occurrence = its.occurrence,
    attempt = its.attempt, state = its.state, token = its.token, until = its.until
FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::smallint[],
    $8::bigint[], $9::bigint[])
    AS its (key, due, visible_at, occurrence, attempt, state, token, until), LATERAL (
    SELECT ctid FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1
) AS found
WHERE job.ctid = found.ctid
