-- Tables of format 1, in their own schema.
CREATE SCHEMA IF NOT EXISTS wheelhouse;
CREATE TABLE wheelhouse.meta (format integer NOT NULL);
INSERT INTO wheelhouse.meta VALUES (1);
-- Generations and tokens.
CREATE SEQUENCE wheelhouse.number AS bigint;
-- state: 0 pending (leased, if it has a token), 1 begun, 2 closed, 3 replaced. Times are
-- milliseconds since 1970.
CREATE TABLE wheelhouse.job (
    queue text COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    visible_at bigint NOT NULL,
    generation bigint NOT NULL,
    state smallint NOT NULL,
    token bigint,
    until bigint,
    due bigint NOT NULL,
    occurrence bigint NOT NULL,
    attempt integer NOT NULL,
    policy text NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (queue, key)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
-- The order in which jobs are claimed. Its first column is an expression. Only statements that need
-- this order use the expression, so each statement can use one index: this one, or that of keys.
-- With the plain column, both would begin with the queue, and wrong statistics could make the
-- planner read a whole queue.
CREATE INDEX job_turn ON wheelhouse.job ((queue || ''), kind, visible_at, generation);
CREATE TABLE wheelhouse.dead (
    queue text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    key bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    due bigint NOT NULL,
    occurrence bigint NOT NULL,
    attempt integer NOT NULL,
    policy text NOT NULL,
    payload bytea NOT NULL,
    reason text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (queue, generation)
);
