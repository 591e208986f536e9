-- $1 queue, $2 kinds that are claimed from a floor, $3 the floor. One search for each kind instead
-- of a walk over all rows. Entries of the kinds in $2 before the floor are probably dead. So the
-- search for the next kind ends before them, and the search for the first row begins after them.
WITH RECURSIVE kinds (kind, has_floor) AS (
    SELECT '' COLLATE "C", false
    UNION ALL
    SELECT coalesce(other.kind, its.bound), other.kind IS NULL
    FROM kinds, LATERAL (
        SELECT min(given.kind COLLATE "C") FROM unnest($2::text[]) AS given (kind)
        WHERE given.kind COLLATE "C" > kinds.kind
    ) AS its (bound), LATERAL (
        SELECT coalesce(
            (SELECT min(job.kind) FROM wheelhouse.job
                WHERE queue || '' = $1 AND job.kind > kinds.kind AND job.kind < its.bound),
            (SELECT min(job.kind) FROM wheelhouse.job
                WHERE queue || '' = $1 AND job.kind > kinds.kind AND its.bound IS NULL))
    ) AS other (kind)
    WHERE kinds.kind IS NOT NULL
)
SELECT kind, first FROM (
    SELECT kind, (SELECT min(visible_at) FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind = kinds.kind
            AND visible_at >= CASE WHEN has_floor THEN $3 ELSE -1 END) AS first
    FROM kinds
) AS all_kinds WHERE first IS NOT NULL
