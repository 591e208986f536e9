-- $1 queue, $2 kinds, $3 when the first written row of each is visible, $4 the present, $5 whether
-- in any case. Tells those who wait, if one of them is the first of its kind that is not due: they
-- know of the first, or of an earlier. One that is due may be claimed before this is seen.
SELECT pg_notify('wheelhouse', $1)
FROM unnest($2::text[], $3::bigint[]) AS its (kind, at)
WHERE $5 OR NOT EXISTS (
    SELECT FROM wheelhouse.job
    WHERE queue = $1 AND job.kind = its.kind AND visible_at > $4 AND visible_at < its.at)
LIMIT 1
