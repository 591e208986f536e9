-- $1 queue, $2 the key before, $3 how many.
SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind, payload,
    policy
FROM wheelhouse.job WHERE queue = $1 AND key > $2 ORDER BY key LIMIT $3
