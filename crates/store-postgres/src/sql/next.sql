-- $1 queue, $2 kinds, $3 a clock or null, $4 the visible_at where the search begins. Returns the
-- present, when the first job of the kinds is visible, and how long the search took, in
-- microseconds.
SELECT coalesce($3::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
    first.at,
    floor(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
FROM (
    SELECT min(its_first.visible_at) AS at FROM unnest($2::text[]) AS its (kind), LATERAL (
        SELECT visible_at FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind = its.kind AND visible_at >= $4
        ORDER BY visible_at LIMIT 1
    ) AS its_first
) AS first
