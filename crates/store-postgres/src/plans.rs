//! The plan of each statement, under missing, stale and wrong statistics.

use crate::quick::{MOVE, PUT, PUT_ONE};
use crate::settings::Builder;
use crate::transaction::begin;
use crate::{PostgresStore, statements::Parameter};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};
use wheelhouse_test_servers::Server;

/// Calls `check` with a client of a server that has the tables, its URL, and the settings of a
/// store.
pub(crate) fn on_server(check: impl AsyncFn(Client, String, Builder)) {
    let Some(server) = Server::postgres() else { return };
    let settings: Builder = PostgresStore::builder(&server.url(), "orders").unwrap();
    drop(settings.clone().connect().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { check(client(&server.url()).await, server.url(), settings).await });
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Puts many due jobs and dead letters into a queue.
const FILL: &str = "
    INSERT INTO wheelhouse.dead (queue, generation, key, kind, due, occurrence, attempt, policy,
    payload, reason, at)
    SELECT 'NAME', n, ('key ' || n)::bytea, 'work/1', n, 0, 0, '', '', '', n
    FROM generate_series(1, 30000) AS n;
    INSERT INTO wheelhouse.job (queue, key, due, visible_at, occurrence, attempt,
    state, kind, policy, payload, generation)
    SELECT 'NAME', ('key ' || n)::bytea, n, n, 0, 0, 0, 'work/1', '', '', n
    FROM generate_series(1, 30000) AS n";

/// Kinds of statistics, and the steps that lead to them and to 30,000 jobs in the queue `orders`.
const STATISTICS: [(&str, &[&str]); 5] = [
    ("fresh", &["orders", ANALYZE]),
    ("missing", &["orders"]),
    ("stale: of an empty table", &[ANALYZE, "orders"]),
    ("stale: of another queue", &["other", ANALYZE, "orders"]),
    ("wrong: a single row", &["orders", ANALYZE, ONE_ROW]),
];

const ANALYZE: &str = "ANALYZE wheelhouse.job, wheelhouse.dead";
const ONE_ROW: &str =
    "UPDATE pg_class SET reltuples = 1, relpages = 1 WHERE relname IN ('job', 'dead')";

async fn plan(client: &Client, sql: &str, parameters: &[Parameter<'_>]) -> String {
    let explain = format!("EXPLAIN (COSTS OFF) {sql}");
    let rows = client.query_typed(&explain, parameters).await.unwrap();
    rows.iter().map(|row| row.get::<_, &str>(0).to_owned() + "\n").collect()
}

/// The plan for any parameters, which a session keeps.
async fn generic_plan(client: &Client, sql: &str, parameters: &[Parameter<'_>]) -> String {
    let types: Vec<&str> = parameters.iter().map(|(_, its)| its.name()).collect();
    let prepare = format!(
        "SET LOCAL plan_cache_mode TO force_generic_plan; PREPARE its ({}) AS {sql}",
        types.join(", ")
    );
    client.batch_execute(&prepare).await.unwrap();
    let execute = format!("EXECUTE its ({})", vec!["NULL"; types.len()].join(", "));
    let plan = plan(client, &execute, &[]).await;
    let reset = "DEALLOCATE its; SET LOCAL plan_cache_mode TO auto";
    client.batch_execute(reset).await.unwrap();
    plan
}

/// A statement; its parameters, as [`parameter`] reads them; its indexes, empty if it reads no
/// rows; and a part of its plan.
type Statement = (&'static str, &'static str, (&'static str, &'static str));

const BY_KEY: (&str, &str) = ("job_pkey", "(key = its.key)");
const BY_TURN: (&str, &str) = ("job_turn", "((queue || ''::text) = 'orders'::text) AND (kind = ");

const NOTIFY: &str = include_str!("sql/notify.sql");

/// The statements of the store's own transactions alone.
const OWN: [Statement; 15] = [
    (include_str!("sql/claim.sql"), "qTnn0nnnn", BY_TURN),
    (include_str!("sql/next.sql"), "qT0n", BY_TURN),
    (NOTIFY, "qTNnf", BY_TURN),
    (include_str!("sql/kinds.sql"), "qTn", ("job_turn", "(kind = kinds.kind)")),
    (include_str!("sql/find.sql"), "qk", ("job_pkey", "(key = ")),
    (include_str!("sql/scan.sql"), "qkn", ("job_pkey", "(key > ")),
    (include_str!("sql/letters.sql"), "qnn", ("dead_pkey", "(generation > '256'::bigint)")),
    // Commits of one statement.
    (PUT_ONE.told, "q0knnttk", ("job_turn", "Conflict Arbiter")),
    (PUT_ONE.far, "q0knnttk", ("", "Conflict Arbiter")),
    (PUT.told, "q0KNNTTK", ("job_pkey|job_turn", "(key = ANY (")),
    (PUT.far, "q0KNNTTK", ("job_pkey", "(key = ANY (")),
    (MOVE.told, "q0KNN", ("job_pkey|job_turn", "(key = its")),
    (MOVE.far, "q0KNN", ("job_pkey", "(key = its")),
    (include_str!("sql/quick/begin.sql"), "qKN", BY_KEY),
    (include_str!("sql/quick/remove.sql"), "qKN", BY_KEY),
];

/// That of a user's transactions alone: each new job is notified, so nothing is read for that.
const USERS: [Statement; 1] = [(NOTIFY, "qTNny", ("", ""))];

/// The statements of a commit, in both.
const COMMIT: [Statement; 8] = [
    (include_str!("sql/load.sql"), "qK0", BY_KEY),
    (include_str!("sql/renew.sql"), "qK0", BY_KEY),
    (include_str!("sql/remove.sql"), "qK", BY_KEY),
    (include_str!("sql/bury.sql"), "qKTni", BY_KEY),
    (include_str!("sql/set.sql"), "qKNNNisNN", BY_KEY),
    (include_str!("sql/put.sql"), "qKNNNisNNTTK", ("", "Conflict Arbiter Indexes: job_pkey")),
    (include_str!("sql/letter.sql"), "qn", ("dead_pkey", "(generation = '256'::bigint)")),
    (include_str!("sql/forget.sql"), "qN", ("dead_pkey", "(generation = its.generation)")),
];

static KEY: &[u8] = b"key 7";
static KEYS: &[&[u8]] = &[b"key 7" as &[u8]; 256];
static KINDS: &[&str] = &["work/1"];
static NUMBERS: &[i64] = &[7; 256];
static LATE: &[i64] = &[40_001];
static NONE: &[Option<i64>] = &[None];
static LAST: &[&[u8]] = &[b"key 30000"];
static NEW: &[&[u8]] = &[b"a new key"];
static SMALL: &[i32] = &[7; 256];
static SMALLER: &[i16] = &[0; 256];

/// The parameter that a letter stands for. A capital letter is an array.
fn parameter(letter: char) -> Parameter<'static> {
    match letter {
        'q' => (&"orders", Type::TEXT),
        't' => (&"work/1", Type::TEXT),
        'T' => (&KINDS, Type::TEXT_ARRAY),
        'k' => (&KEY, Type::BYTEA),
        'K' => (&KEYS, Type::BYTEA_ARRAY),
        'n' => (&256_i64, Type::INT8),
        'N' => (&NUMBERS, Type::INT8_ARRAY),
        '0' => (&None::<i64>, Type::INT8),
        // The beginning of time, times after all jobs, none of them, the last of the keys, and one
        // that no job has.
        'b' => (&0_i64, Type::INT8),
        'a' => (&40_000_i64, Type::INT8),
        'A' => (&LATE, Type::INT8_ARRAY),
        '-' => (&NONE, Type::INT8_ARRAY),
        'L' => (&LAST, Type::BYTEA_ARRAY),
        'o' => (&NEW[0], Type::BYTEA),
        'O' => (&NEW, Type::BYTEA_ARRAY),
        'i' => (&SMALL, Type::INT4_ARRAY),
        's' => (&SMALLER, Type::INT2_ARRAY),
        'y' => (&true, Type::BOOL),
        'f' => (&false, Type::BOOL),
        other => unreachable!("no parameter {other}"),
    }
}

/// Checks the plan of each statement. `is_own`: in a transaction of the store, with the planner
/// settings of [`begin`], and not in a user's, as for [`commit_in`](crate::commit_in).
async fn check(client: &Client, statistics: &str, is_own: bool) {
    let place = format!("statistics {statistics}, a transaction of the store: {is_own}");
    let its: &[Statement] = if is_own { &OWN } else { &USERS };
    for (sql, letters, (indexes, condition)) in its.iter().chain(&COMMIT) {
        let parameters: Vec<_> = letters.chars().map(parameter).collect();
        let special = plan(client, sql, &parameters).await;
        check_plan(&special, &place, sql, (indexes, condition));
        // A user's transaction does not keep plans.
        if is_own {
            let generic = generic_plan(client, sql, &parameters).await;
            let condition =
                condition.replace("'orders'::text", "$1").replace("'256'::bigint", "$2");
            check_plan(&generic, &place, sql, (indexes, &condition));
        }
    }
}

fn check_plan(plan: &str, place: &str, sql: &str, (indexes, condition): (&str, &str)) {
    let bad = ["Seq Scan on job", "Seq Scan on dead", "Bitmap"];
    // Each scan must use one of these indexes, and none may read a whole table.
    let scans = plan.matches(" using ").count();
    let scans_of = |index: &str| plan.matches(&format!(" using {index} on ")).count();
    let own: usize = indexes.split('|').map(scans_of).sum();
    let good = (own == scans)
        && (scans > 0 || indexes.is_empty())
        && plan.contains(condition)
        && bad.iter().all(|bad| !plan.contains(bad))
        // Pages must be read in the order of the index, without a sort.
        && !(sql.contains("> $2 ORDER BY") && plan.contains("Sort"));
    assert!(good, "{place}, the statement\n{sql}\nhas the plan\n{plan}");
}

#[test]
fn plans_are_good_whatever_the_statistics() {
    on_server(async |client, _, settings| {
        let off = "ALTER TABLE wheelhouse.job SET (autovacuum_enabled = off);
            ALTER TABLE wheelhouse.dead SET (autovacuum_enabled = off)";
        client.batch_execute(off).await.unwrap();
        for (statistics, steps) in STATISTICS {
            let empty = "TRUNCATE wheelhouse.job, wheelhouse.dead; DELETE FROM pg_statistic
                WHERE starelid IN ('wheelhouse.job'::regclass, 'wheelhouse.job_turn'::regclass,
                    'wheelhouse.dead'::regclass)";
            client.batch_execute(empty).await.unwrap();
            for step in steps {
                let fill = FILL.replace("NAME", step);
                let step = if step.contains(' ') { *step } else { &fill };
                client.batch_execute(step).await.unwrap();
            }
            client.batch_execute(&begin(&settings)).await.unwrap();
            check(&client, statistics, true).await;
            client.batch_execute("ROLLBACK").await.unwrap();
            check(&client, statistics, false).await;
        }
    });
}

/// The number of pages that a statement reads.
async fn pages(client: &Client, sql: &str, parameters: &[Parameter<'_>]) -> u64 {
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {sql}");
    let rows = client.query_typed(&explain, parameters).await.unwrap();
    let lines = rows.iter().map(|row| row.get::<_, &str>(0).trim_start());
    // The first of these lines is that of the whole plan.
    let all = lines.filter_map(|line| line.strip_prefix("Buffers: shared ")).next().unwrap();
    let numbers = all.split(' ').filter_map(|part| part.split_once('='));
    numbers
        .filter(|(what, _)| ["hit", "read"].contains(what))
        .map(|(_, n)| n.parse::<u64>().unwrap())
        .sum()
}

/// Deletes nearly all of 30,000 rows, which another transaction can still see: so they stay in the
/// indexes. Then begins a transaction of the store.
async fn with_dead_rows(client: &Client, other: &Client, settings: &Builder) {
    client.batch_execute(&FILL.replace("NAME", "orders")).await.unwrap();
    let snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM wheelhouse.job LIMIT 1";
    other.batch_execute(snapshot).await.unwrap();
    let delete = "DELETE FROM wheelhouse.job WHERE visible_at < 30000";
    client.batch_execute(delete).await.unwrap();
    client.batch_execute(&begin(settings)).await.unwrap();
}

#[test]
fn kinds_are_listed_without_a_walk_over_dead_rows() {
    on_server(async |its, url, settings| {
        let other = client(&url).await;
        with_dead_rows(&its, &other, &settings).await;
        let list = async |claimed: &[&str], floor: i64| {
            let claimed = (&claimed as &_, Type::TEXT_ARRAY);
            let parameters = [parameter('q'), claimed, (&floor, Type::INT8)];
            pages(&its, include_str!("sql/kinds.sql"), &parameters).await
        };
        let (all, few) = (list(&[], -1).await, list(&["work/1"], 29_990).await);
        assert!(all > 1_000 && few < 100, "pages from the beginning: {all}, from a floor: {few}");
    });
}

/// Each of these statements looks for an earlier job. Either all jobs are due. Or those that were
/// leased and have ended since are dead rows, and due before most of the jobs that wait.
#[test]
fn a_new_job_is_written_without_a_walk_over_due_jobs_or_dead_rows() {
    let (due, dead) = (
        [
            (PUT_ONE.told, "qaoa0ttk"),
            (PUT.told, "qaOA-TTO"),
            (MOVE.told, "qaLA-"),
            (NOTIFY, "qTAaf"),
        ],
        [(PUT_ONE.told, "qbka0ttk"), (MOVE.told, "qbLA-"), (NOTIFY, "qTAbf")],
    );
    for (has_dead_rows, statements) in [(false, &due[..]), (true, &dead)] {
        on_server(async |its, url, settings| {
            let other = client(&url).await;
            if has_dead_rows {
                with_dead_rows(&its, &other, &settings).await;
            } else {
                its.batch_execute(&FILL.replace("NAME", "orders")).await.unwrap();
                its.batch_execute(&begin(&settings)).await.unwrap();
            }
            for (sql, letters) in statements {
                let parameters: Vec<_> = letters.chars().map(parameter).collect();
                let pages = pages(&its, sql, &parameters).await;
                assert!(pages < 100, "{pages} pages:\n{sql}");
            }
        });
    }
}
