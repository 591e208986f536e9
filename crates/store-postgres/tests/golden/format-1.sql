-- Tables of format 1. In a schema of their own, beside whatever else the database holds.
CREATE SCHEMA IF NOT EXISTS wheelhouse;
CREATE TABLE wheelhouse.meta (format integer NOT NULL);
INSERT INTO wheelhouse.meta VALUES (1);
-- Generations and tokens.
CREATE SEQUENCE wheelhouse.number AS bigint;
-- state: 0 pending, 1 leased, 2 closed, 3 replaced. Times are milliseconds since 1970.
CREATE TABLE wheelhouse.job (
    queue text NOT NULL,
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
CREATE INDEX job_turn ON wheelhouse.job ((queue || ''), kind, visible_at, generation);
CREATE TABLE wheelhouse.dead (
    queue text NOT NULL,
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
INSERT INTO wheelhouse.job SELECT (E'(golden,"\\\\x6c6561736564",work/1,1790000001000,1795459899084453,1,1795459899084455,1790000001000,1790000000000,0,1,"","\\\\x6c6561736564")'::wheelhouse.job).*;
INSERT INTO wheelhouse.job SELECT (E'(golden,"\\\\x70656e64696e67",work/1,1790001000000,1795459899084454,0,,,1790001000000,0,0,"","\\\\x70656e64696e67")'::wheelhouse.job).*;
INSERT INTO wheelhouse.dead SELECT (E'(golden,1795459899084451,"\\\\x64656164",work/1,1790000000000,0,1,"","\\\\x64656164","it failed",1790000000000)'::wheelhouse.dead).*;
SELECT setval('wheelhouse.number', 1795459899084455);
