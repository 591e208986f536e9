//! The plan of each statement, under statistics that say nothing, too little, or what is wrong.

use crate::settings::Builder;
use crate::transaction::begin;
use crate::{PostgresStore, commit::Parameter};
use std::future::Future;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};
use wheelhouse_test_servers::Server;

fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(call)
}

/// Puts many due jobs into a queue.
const FILL: &str = "INSERT INTO wheelhouse.job (queue, key, due, visible_at, occurrence, attempt,
    state, kind, policy, payload, generation)
    SELECT 'NAME', ('key ' || n)::bytea, n, n, 0, 0, 0, 'work/1', '', '', n
    FROM generate_series(1, 30000) AS n";

/// Statistics, and the steps to them and to 30,000 jobs in the queue `orders`.
const STATISTICS: [(&str, &[&str]); 4] = [
    ("missing", &["orders"]),
    ("stale: of an empty table", &["ANALYZE wheelhouse.job", "orders"]),
    ("stale: of another queue", &["other", "ANALYZE wheelhouse.job", "orders"]),
    (
        "wrong: a single row",
        &[
            "orders",
            "ANALYZE wheelhouse.job",
            "UPDATE pg_class SET reltuples = 1, relpages = 1 WHERE relname = 'job'",
        ],
    ),
];

async fn plan(client: &Client, sql: &str, parameters: &[Parameter<'_>]) -> String {
    let explain = format!("EXPLAIN (COSTS OFF) {sql}");
    let rows = client.query_typed(&explain, parameters).await.unwrap();
    rows.iter().map(|row| row.get::<_, &str>(0).to_owned() + "\n").collect()
}

/// Each statement and how it must be planned: the index, and a condition of it.
async fn check(client: &Client, statistics: &str) {
    let keys: Vec<&[u8]> = vec![b"key 7"; 256];
    let (texts, numbers) = (vec![""; 256], vec![7_i64; 256]);
    let (small, smaller) = (vec![7_i32; 256], vec![0_i16; 256]);
    let one = vec![7_i64];
    let (queue, kinds) = ("orders", vec!["work/1"]);
    let (no_clock, lease, max) = (None::<i64>, 30_000_i64, 256_i64);
    let q: Parameter<'_> = (&queue, Type::TEXT);
    let k: Parameter<'_> = (&keys, Type::BYTEA_ARRAY);
    let n: Parameter<'_> = (&numbers, Type::INT8_ARRAY);
    let clock: Parameter<'_> = (&no_clock, Type::INT8);
    let kinds: Parameter<'_> = (&kinds, Type::TEXT_ARRAY);
    let i8s = |number| -> Parameter<'_> { (number, Type::INT8) };
    let by_key = ("job_pkey", "(key = its.key)");
    let by_turn = ("job_turn", "((queue || ''::text) = 'orders'::text) AND (kind = ");
    let statements: [(&str, Vec<Parameter<'_>>, (&str, &str)); 7] = [
        (
            include_str!("sql/claim.sql"),
            vec![q.clone(), kinds.clone(), i8s(&max), i8s(&lease), clock.clone(), i8s(&max)],
            by_turn,
        ),
        (
            include_str!("sql/next.sql"),
            vec![q.clone(), kinds.clone(), clock.clone(), i8s(&max)],
            by_turn,
        ),
        (
            include_str!("sql/notify.sql"),
            vec![q.clone(), kinds, (&one, Type::INT8_ARRAY), i8s(&max), (&false, Type::BOOL)],
            by_turn,
        ),
        (include_str!("sql/load.sql"), vec![q.clone(), k.clone(), clock], by_key),
        (include_str!("sql/remove.sql"), vec![q.clone(), k.clone()], by_key),
        (
            include_str!("sql/bury.sql"),
            vec![q.clone(), k.clone(), (&texts, Type::TEXT_ARRAY), i8s(&max)],
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
    for (sql, parameters, (index, condition)) in statements {
        let plan = plan(client, sql, &parameters).await;
        let good = plan.contains(&format!("Index Scan using {index}"))
            && plan.contains(condition)
            && !plan.contains("Seq Scan on job")
            && !plan.contains("Bitmap")
            && !plan.contains(if index == "job_turn" { "job_pkey" } else { "job_turn" });
        assert!(good, "statistics {statistics}, the statement\n{sql}\nhas the plan\n{plan}");
    }
}

/// Where nothing but the statement says how it is to be planned.
async fn check_in_a_users_transaction(client: &Client, statistics: &str) {
    let keys: Vec<&[u8]> = vec![b"key 7"; 256];
    let load = include_str!("sql/load.sql");
    let parameters: [Parameter<'_>; 3] =
        [(&"orders", Type::TEXT), (&keys, Type::BYTEA_ARRAY), (&None::<i64>, Type::INT8)];
    let plan = plan(client, load, &parameters).await;
    let good = plan.contains("(key = its.key)") && !plan.contains("Seq Scan on job");
    assert!(good, "statistics {statistics}, a user's transaction:\n{plan}");
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
        let off = "ALTER TABLE wheelhouse.job SET (autovacuum_enabled = off)";
        client.batch_execute(off).await.unwrap();
        for (statistics, steps) in STATISTICS {
            let empty = "TRUNCATE wheelhouse.job; DELETE FROM pg_statistic
                WHERE starelid IN ('wheelhouse.job'::regclass, 'wheelhouse.job_turn'::regclass)";
            client.batch_execute(empty).await.unwrap();
            for step in steps {
                let fill = FILL.replace("NAME", step);
                let step = if step.contains(' ') { *step } else { &fill };
                client.batch_execute(step).await.unwrap();
            }
            client.batch_execute(&begin(&settings)).await.unwrap();
            check(&client, statistics).await;
            client.batch_execute("ROLLBACK").await.unwrap();
            check_in_a_users_transaction(&client, statistics).await;
        }
    });
}
