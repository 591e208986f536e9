-- $1 queue, $2 kinds, $3 when the first written row of each is visible, $4 the present, $5 whether
-- in any case. Notifies waiting programs if one of them is the first of its kind that is not due:
-- they wait for the first, or for an earlier. One that is due may be claimed before this is seen.
-- The search is a value, since a condition may become a join with the whole queue.
SELECT pg_notify('wheelhouse', $1)
FROM unnest($2::text[], $3::bigint[]) AS its (kind, at)
WHERE $5 OR (
    SELECT visible_at FROM wheelhouse.job
    WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at > $4 AND visible_at < its.at
    LIMIT 1) IS NULL
LIMIT 1
