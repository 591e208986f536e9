-- The order in which jobs are claimed. Its first column is an expression. Only statements that need
-- this order use the expression, so each statement can use one index: this one, or that of keys.
-- With the plain column, both would begin with the queue, and wrong statistics could make the
-- planner read a whole queue.
CREATE INDEX job_turn ON wheelhouse.job ((queue || ''), kind, visible_at, generation)
