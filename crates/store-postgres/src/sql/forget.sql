-- $1 queue, $2 generations. Returns those that had a dead letter. Rows are removed by their place,
-- as in set.sql.
DELETE FROM wheelhouse.dead USING unnest($2::bigint[]) AS its (generation), LATERAL (
    SELECT ctid FROM wheelhouse.dead WHERE queue = $1 AND dead.generation = its.generation LIMIT 1
) AS found
WHERE dead.ctid = found.ctid
RETURNING dead.generation
