-- $1 queue, $2 kinds, $3 when the first written row of each is visible, $4 the present, $5 true to
-- notify in any case. Otherwise notifies if one of the rows is the first of its kind that is not
-- due: waiting programs wait for the first such row, or for an earlier one. Rows that are due, or
-- will be within 20 ms, do not count, because they may be claimed before this commit is visible.
-- The search is a scalar subquery, because EXISTS could become a join with the whole queue. It goes
-- back from the new row, because the rows just after the present are mostly dead versions of jobs
-- that were leased. Elsewhere, dead rows of cancelled jobs lie between the rows of others. The
-- payload is the queue, and when the first of these rows is visible.
SELECT pg_notify('wheelhouse', $1::text || ' ' || min(its.at))
FROM unnest($2::text[], $3::bigint[]) AS its (kind, at)
WHERE $5 OR (
    SELECT visible_at FROM wheelhouse.job
    WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at > $4 + 20 AND visible_at < its.at
    ORDER BY visible_at DESC LIMIT 1) IS NULL
HAVING count(*) > 0
