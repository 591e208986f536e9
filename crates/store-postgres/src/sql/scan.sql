-- $1 queue, $2 the key before the page, $3 the most rows.
SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind, payload,
    policy
FROM wheelhouse.job WHERE queue = $1 AND key > $2 ORDER BY key LIMIT $3
