-- $1 queue. Waits for all transactions that may insert jobs into the queue, and blocks others until
-- the end of this one: if a key is not found after this, no other transaction inserts it.
SELECT pg_advisory_xact_lock(1467508326, hashtext($1::text))
