-- $1 queue, $2 the generation before the page, $3 the most rows. Columns as in letter.sql.
SELECT due, due, generation, occurrence, attempt, 0::smallint, NULL::bigint, NULL::bigint, key,
    kind, payload, policy, reason, at
FROM wheelhouse.dead WHERE queue = $1 AND generation > $2 ORDER BY generation LIMIT $3
