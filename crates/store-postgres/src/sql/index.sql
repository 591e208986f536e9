-- The order in which jobs are claimed. Its first column is an expression that only statements which
-- want this order name. So each statement can use one index: this one, or that of keys. By columns
-- alone both begin with the queue, and wrong statistics can make the planner read a whole queue.
CREATE INDEX job_turn ON wheelhouse.job ((queue || ''), kind, visible_at, generation)
