-- $1 queue. Waits for all that write jobs into the queue, and holds off others until the end of the
-- transaction: what is looked for after this, and not found, nobody inserts.
SELECT pg_advisory_xact_lock(1467508326, hashtext($1::text))
