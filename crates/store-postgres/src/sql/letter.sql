-- $1 queue, $2 generation. Returns the columns of a pending entry, and two more.
SELECT due, due, generation, occurrence, attempt, 0::smallint, NULL::bigint, NULL::bigint, key,
    kind, payload, policy, reason, at
FROM wheelhouse.dead WHERE queue = $1 AND generation = $2
