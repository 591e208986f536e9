-- $1 queue, $2 keys. Rows are removed by their place, as in set.sql.
DELETE FROM wheelhouse.job USING unnest($2::bytea[]) AS its (key), LATERAL (
    SELECT ctid FROM wheelhouse.job WHERE queue = $1 AND job.key = its.key LIMIT 1
) AS found
WHERE job.ctid = found.ctid
