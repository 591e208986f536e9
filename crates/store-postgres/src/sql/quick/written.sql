-- The end of put.sql and move.sql for jobs that are far in the future: as told.sql, but without
-- a notification.
SELECT count(*) / CASE WHEN count(*) IN (0, cardinality($3::bytea[])) THEN 1 ELSE 0 END,
    min(visible_at)
FROM written
