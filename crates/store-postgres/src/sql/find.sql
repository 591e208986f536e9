-- $1 queue, $2 key.
SELECT due, visible_at, generation, occurrence, attempt, state, token, until, key, kind, payload,
    policy
FROM wheelhouse.job WHERE queue = $1 AND key = $2
