-- The end of put_one.sql for a job that is far in the future: sends no notification.
RETURNING 1::bigint, visible_at
