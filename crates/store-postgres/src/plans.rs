//! The plan of each statement, under missing, stale and wrong statistics.

use crate::quick::{MOVE, PUT};
use crate::settings::Builder;
use crate::transaction::begin;
use crate::{PostgresStore, statements::Parameter};
use std::future::Future;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};
use wheelhouse_test_servers::Server;

fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(call)
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
    ("fresh", &["orders", "ANALYZE wheelhouse.job, wheelhouse.dead"]),
    ("missing", &["orders"]),
    ("stale: of an empty table", &["ANALYZE wheelhouse.job, wheelhouse.dead", "orders"]),
    ("stale: of another queue", &["other", "ANALYZE wheelhouse.job, wheelhouse.dead", "orders"]),
    (
        "wrong: a single row",
        &[
            "orders",
            "ANALYZE wheelhouse.job, wheelhouse.dead",
            "UPDATE pg_class SET reltuples = 1, relpages = 1 WHERE relname IN ('job', 'dead')",
        ],
    ),
];

async fn plan(client: &Client, sql: &str, parameters: &[Parameter<'_>]) -> String {
    let explain = format!("EXPLAIN (COSTS OFF) {sql}");
    let rows = client.query_typed(&explain, parameters).await.unwrap();
    rows.iter().map(|row| row.get::<_, &str>(0).to_owned() + "\n").collect()
}

/// The transaction in which statements are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// The store's, with the planner settings of [`begin`]: all statements.
    Own,
    /// A user's, as for [`commit_in`](crate::commit_in): only the statements of a commit.
    Users,
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

/// Checks the plans of statements: each names the index that it must use, and a condition in the
/// plan.
async fn check(client: &Client, statistics: &str, within: Within) {
    let keys: Vec<&[u8]> = vec![b"key 7"; 256];
    let (texts, numbers) = (vec![""; 256], vec![7_i64; 256]);
    let (small, smaller) = (vec![7_i32; 256], vec![0_i16; 256]);
    let one = vec![7_i64];
    let (queue, kinds) = ("orders", vec!["work/1"]);
    let (no_clock, lease, max) = (None::<i64>, 30_000_i64, 256_i64);
    // In a user's transaction each new job is notified, so nothing is read for that.
    let in_any_case = within == Within::Users;
    let q: Parameter<'_> = (&queue, Type::TEXT);
    let k: Parameter<'_> = (&keys, Type::BYTEA_ARRAY);
    let n: Parameter<'_> = (&numbers, Type::INT8_ARRAY);
    let clock: Parameter<'_> = (&no_clock, Type::INT8);
    let kinds: Parameter<'_> = (&kinds, Type::TEXT_ARRAY);
    let i8s = |number| -> Parameter<'_> { (number, Type::INT8) };
    let by_key = ("job_pkey", "(key = its.key)");
    let by_turn = ("job_turn", "((queue || ''::text) = 'orders'::text) AND (kind = ");
    let statements: [Statement<'_>; 7] = [
        (
            include_str!("sql/claim.sql"),
            vec![
                q.clone(),
                kinds.clone(),
                i8s(&max),
                i8s(&lease),
                clock.clone(),
                i8s(&max),
                i8s(&lease),
                i8s(&max),
            ],
            by_turn,
        ),
        (
            include_str!("sql/next.sql"),
            vec![q.clone(), kinds.clone(), clock.clone(), i8s(&max)],
            by_turn,
        ),
        (
            include_str!("sql/notify.sql"),
            vec![q.clone(), kinds, (&one, Type::INT8_ARRAY), i8s(&max), (&in_any_case, Type::BOOL)],
            if in_any_case { ("", "") } else { by_turn },
        ),
        (include_str!("sql/load.sql"), vec![q.clone(), k.clone(), clock], by_key),
        (include_str!("sql/remove.sql"), vec![q.clone(), k.clone()], by_key),
        (
            include_str!("sql/bury.sql"),
            vec![
                q.clone(),
                k.clone(),
                (&texts, Type::TEXT_ARRAY),
                i8s(&max),
                (&small, Type::INT4_ARRAY),
            ],
            by_key,
        ),
        (
            include_str!("sql/set.sql"),
            vec![
                q,
                k,
                n.clone(),
                n.clone(),
                n.clone(),
                (&small, Type::INT4_ARRAY),
                (&smaller, Type::INT2_ARRAY),
                n.clone(),
                n,
            ],
            by_key,
        ),
    ];
    // The first two are those of a claim.
    let first = if within == Within::Users { 2 } else { 0 };
    check_each(client, (statistics, within), &statements[first..]).await;
}

/// The same for statements about a single row, a page of rows, new rows, and dead letters.
async fn check_others(client: &Client, statistics: &str, within: Within) {
    let keys: Vec<&[u8]> = vec![b"key 7"; 256];
    let (texts, numbers) = (vec![""; 256], vec![7_i64; 256]);
    let (small, smaller) = (vec![7_i32; 256], vec![0_i16; 256]);
    let (queue, key, max) = ("orders", b"key 7".as_slice(), 256_i64);
    let kinds = vec!["work/1"];
    let q: Parameter<'_> = (&queue, Type::TEXT);
    let key: Parameter<'_> = (&key, Type::BYTEA);
    let number: Parameter<'_> = (&max, Type::INT8);
    let n: Parameter<'_> = (&numbers, Type::INT8_ARRAY);
    let t: Parameter<'_> = (&texts, Type::TEXT_ARRAY);
    let k: Parameter<'_> = (&keys, Type::BYTEA_ARRAY);
    let mut put = vec![q.clone(), k.clone(), n.clone(), n.clone(), n.clone()];
    put.extend([(&small as _, Type::INT4_ARRAY), (&smaller as _, Type::INT2_ARRAY)]);
    put.extend([n.clone(), n.clone(), t.clone(), t, k]);
    let dead = |condition| ("dead_pkey", condition);
    let statements: [Statement<'_>; 7] = [
        (
            include_str!("sql/kinds.sql"),
            vec![q.clone(), (&kinds, Type::TEXT_ARRAY), number.clone()],
            ("job_turn", "(kind = kinds.kind)"),
        ),
        (include_str!("sql/find.sql"), vec![q.clone(), key.clone()], ("job_pkey", "(key = ")),
        (
            include_str!("sql/scan.sql"),
            vec![q.clone(), key, number.clone()],
            ("job_pkey", "(key > "),
        ),
        (
            include_str!("sql/letters.sql"),
            vec![q.clone(), number.clone(), number.clone()],
            dead("(generation > '256'::bigint)"),
        ),
        (include_str!("sql/put.sql"), put, ("", "Conflict Arbiter Indexes: job_pkey")),
        (
            include_str!("sql/letter.sql"),
            vec![q.clone(), number],
            dead("(generation = '256'::bigint)"),
        ),
        (include_str!("sql/forget.sql"), vec![q, n], dead("(generation = its.generation)")),
    ];
    // The first four are no statements of a commit.
    let first = if within == Within::Users { 4 } else { 0 };
    check_each(client, (statistics, within), &statements[first..]).await;
}

/// Commits of one statement.
async fn check_quick(client: &Client, statistics: &str) {
    let keys: Vec<&[u8]> = vec![b"key 7"; 256];
    let (texts, numbers) = (vec![""; 256], vec![7_i64; 256]);
    let (queue, no_clock) = ("orders", None::<i64>);
    let q: Parameter<'_> = (&queue, Type::TEXT);
    let k: Parameter<'_> = (&keys, Type::BYTEA_ARRAY);
    let n: Parameter<'_> = (&numbers, Type::INT8_ARRAY);
    let t: Parameter<'_> = (&texts, Type::TEXT_ARRAY);
    let clock: Parameter<'_> = (&no_clock, Type::INT8);
    let moves = vec![q.clone(), clock.clone(), k.clone(), n.clone(), n.clone()];
    let puts = [moves.clone(), vec![t.clone(), t, k.clone()]].concat();
    let by_token = vec![q.clone(), k, n];
    let (one, both) = (("job_pkey", "(key = its.key)"), ("job_pkey|job_turn", "(key = its"));
    let (key, text, number) = (b"key 7".as_slice(), "work/1", 7_i64);
    let (number, text): (Parameter<'_>, Parameter<'_>) =
        ((&number, Type::INT8), (&text, Type::TEXT));
    let key: Parameter<'_> = (&key, Type::BYTEA);
    let one_put = vec![q, clock, key.clone(), number.clone(), number, text.clone(), text, key];
    let statements: [Statement<'_>; 5] = [
        (include_str!("sql/quick/put_one.sql"), one_put, ("job_turn", "Conflict Arbiter")),
        (PUT, puts, ("job_pkey|job_turn", "(key = ANY (")),
        (MOVE, moves, both),
        (include_str!("sql/quick/begin.sql"), by_token.clone(), one),
        (include_str!("sql/quick/remove.sql"), by_token, one),
    ];
    check_each(client, (statistics, Within::Own), &statements).await;
}

/// A statement, its parameters, its indexes (empty if it reads no rows), and a part of its plan.
type Statement<'p> = (&'p str, Vec<Parameter<'p>>, (&'p str, &'p str));

async fn check_each(
    client: &Client,
    (statistics, within): (&str, Within),
    statements: &[Statement<'_>],
) {
    let place = format!("statistics {statistics}, a transaction: {within:?}");
    for (sql, parameters, (indexes, condition)) in statements {
        let special = plan(client, sql, parameters).await;
        check_plan(&special, &place, sql, (indexes, condition));
        // A user's transaction does not keep plans.
        if within == Within::Own {
            let generic = generic_plan(client, sql, parameters).await;
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
    let Some(server) = Server::postgres() else { return };
    let url = format!("postgres://postgres@{}/postgres", server.address());
    let settings: Builder = PostgresStore::builder(&url, "orders").unwrap();
    drop(settings.clone().connect().unwrap());
    run(async {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
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
            check(&client, statistics, Within::Own).await;
            check_others(&client, statistics, Within::Own).await;
            check_quick(&client, statistics).await;
            client.batch_execute("ROLLBACK").await.unwrap();
            check(&client, statistics, Within::Users).await;
            check_others(&client, statistics, Within::Users).await;
        }
    });
}

/// The number of pages that a list of the kinds reads. The kinds in `claimed` are claimed from
/// `floor`.
async fn pages(client: &Client, claimed: &[&str], floor: i64) -> u64 {
    let sql = include_str!("sql/kinds.sql");
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {sql}");
    let parameters: [Parameter<'_>; 3] =
        [(&"orders", Type::TEXT), (&claimed, Type::TEXT_ARRAY), (&floor, Type::INT8)];
    let rows = client.query_typed(&explain, &parameters).await.unwrap();
    let lines = rows.iter().map(|row| row.get::<_, &str>(0).trim_start());
    // The first of these lines is that of the whole plan.
    let all = lines.filter_map(|line| line.strip_prefix("Buffers: shared ")).next().unwrap();
    let numbers = all.split(' ').filter_map(|part| part.split_once('='));
    numbers
        .filter(|(what, _)| ["hit", "read"].contains(what))
        .map(|(_, n)| n.parse::<u64>().unwrap())
        .sum()
}

#[test]
fn kinds_are_listed_without_a_walk_over_dead_rows() {
    let Some(server) = Server::postgres() else { return };
    let url = format!("postgres://postgres@{}/postgres", server.address());
    let settings: Builder = PostgresStore::builder(&url, "orders").unwrap();
    drop(settings.clone().connect().unwrap());
    run(async {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let (other, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&FILL.replace("NAME", "orders")).await.unwrap();
        let snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM wheelhouse.job LIMIT 1";
        other.batch_execute(snapshot).await.unwrap();
        let delete = "DELETE FROM wheelhouse.job WHERE visible_at < 30000";
        client.batch_execute(delete).await.unwrap();
        client.batch_execute(&begin(&settings)).await.unwrap();
        let (all, few) = (pages(&client, &[], -1).await, pages(&client, &["work/1"], 29_990).await);
        assert!(all > 1_000 && few < 100, "pages from the beginning: {all}, from a floor: {few}");
    });
}
