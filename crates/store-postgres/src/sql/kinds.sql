-- $1 queue. One search for each kind, and not a walk over all rows.
WITH RECURSIVE kinds (kind) AS (
    SELECT min(kind) FROM wheelhouse.job WHERE queue || '' = $1
    UNION ALL
    SELECT (SELECT min(job.kind) FROM wheelhouse.job
        WHERE queue || '' = $1 AND job.kind > kinds.kind)
    FROM kinds WHERE kind IS NOT NULL
)
SELECT kind,
    (SELECT min(visible_at) FROM wheelhouse.job WHERE queue || '' = $1 AND job.kind = kinds.kind)
FROM kinds WHERE kind IS NOT NULL
