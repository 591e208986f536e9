-- $1 queue, $2 kinds, and when the first written row of each is visible. Tells those who wait, if
-- one of them is the first of its kind: they know of the first, or of an earlier.
SELECT pg_notify('wheelhouse', $1)
FROM unnest($2::text[], $3::bigint[]) AS its (kind, at)
WHERE NOT EXISTS (
    SELECT FROM wheelhouse.job WHERE queue = $1 AND job.kind = its.kind AND visible_at < its.at)
LIMIT 1
