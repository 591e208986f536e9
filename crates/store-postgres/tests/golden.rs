//! A database of format 1, as the first version wrote it. Every later version must read it.

mod common;

use common::{connect, execute, run, shared, url};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{ClaimLimit, Kinds, Outcome, Store, Timestamp};
use wheelhouse_store_conformance::jobs::{cancel, lease, one};
use wheelhouse_store_conformance::{read_golden, write_golden};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::Server;

/// When the data were written, in milliseconds since 1970.
const WRITTEN: u64 = 1_790_000_000_000;

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", "format-1.sql"].iter().collect()
}

fn store(url: &str, millis: u64) -> PostgresStore {
    let now = move || Timestamp::from_millis(millis);
    PostgresStore::builder(url, "golden").unwrap().clock(now).connect().unwrap()
}

#[test]
fn a_database_of_format_1_can_be_read() {
    let Some(url) = shared() else { return };
    let database = database_of_format_1(&url, "golden");
    let mut store = store(&database, WRITTEN + 60_000);
    assert_eq!(store.format(), 1);
    read_golden(&mut store);
}

/// Creates a database of format 1 on a server.
fn database_of_format_1(url: &str, name: &str) -> String {
    let database = format!("{}{name}", url.strip_suffix("postgres").unwrap());
    execute(url, &[&format!("CREATE DATABASE {name}")]);
    execute(&database, &[&fs::read_to_string(file()).unwrap()]);
    database
}

/// Claims until `job_turn` is built, and returns the names of all indexes of jobs.
fn indexes(database: &str, store: &mut PostgresStore) -> String {
    let valid = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_index
                 JOIN pg_class ON pg_class.oid = indexrelid
                 WHERE indrelid = 'wheelhouse.job'::regclass AND indisvalid";
    let begin = Instant::now();
    loop {
        lease(store, 9);
        let row = run(async { connect(database).await.query_one(valid, &[]).await.unwrap() });
        let indexes: String = row.get(0);
        if indexes.contains("job_turn") {
            return indexes;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "waited for 60 s: {indexes}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A transaction that has written jobs delays the build of the new index, as a large table would.
#[test]
fn jobs_run_by_the_old_index_until_the_new_one_is_built() {
    let Some(url) = shared() else { return };
    let database = database_of_format_1(&url, "old_index");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let client = runtime.block_on(connect(&database));
    let write = "BEGIN; UPDATE wheelhouse.job SET attempt = attempt WHERE key = 'pending'";
    runtime.block_on(client.batch_execute(write)).unwrap();
    let mut store = store(&database, WRITTEN + 60_000);
    assert_eq!(lease(&mut store, 9).len(), 1, "the job whose lease has ended");
    runtime.block_on(client.batch_execute("ROLLBACK")).unwrap();
    assert_eq!(indexes(&database, &mut store), "job_order job_pkey job_turn");
}

#[test]
fn an_index_whose_build_was_interrupted_is_built_again() {
    let Some(url) = shared() else { return };
    let database = database_of_format_1(&url, "broken_index");
    let break_off = "CREATE INDEX job_turn ON wheelhouse.job (kind);
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'wheelhouse.job_turn'::regclass";
    execute(&database, &[break_off]);
    // Several programs start at once, and one of them builds the index.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut store = store(&database, WRITTEN + 60_000);
                assert_eq!(indexes(&database, &mut store), "job_order job_pkey job_turn");
            });
        }
    });
}

#[test]
fn a_pooler_lends_the_sessions_to_build_the_index() {
    let Some(server) = Server::postgres() else { return };
    let Some(pooler) = Server::pgbouncer(&server, "transaction", 3) else { return };
    let direct = url(&server);
    execute(&direct, &[&fs::read_to_string(file()).unwrap()]);
    let mut store = store(&url(&pooler), WRITTEN + 60_000);
    assert_eq!(indexes(&direct, &mut store), "job_order job_pkey job_turn");
}

/// Commands that list jobs or cancel one do not build the index.
#[test]
fn who_claims_nothing_builds_no_index() {
    let Some(url) = shared() else { return };
    let database = database_of_format_1(&url, "no_index");
    let mut store = store(&database, WRITTEN + 60_000);
    assert_eq!(one(&mut store, cancel("pending")), Outcome::Cancelled);
    store.claim(&Kinds::default(), ClaimLimit::jobs(0), Duration::ZERO).unwrap();
    assert_eq!(store.gauges().unwrap().get("missing_indexes"), Some(&1));
}

/// Run by hand, once for each format: `cargo test --test golden -- --ignored`.
#[test]
#[ignore = "writes tests/golden"]
fn write_the_golden_file() {
    let server = Server::postgres().unwrap();
    let url = url(&server);
    write_golden(&mut store(&url, WRITTEN));

    let mut text = include_str!("../src/sql/schema.sql").to_owned();
    run(async {
        let client = connect(&url).await;
        for query in [
            "SELECT format('INSERT INTO wheelhouse.job SELECT (%L::wheelhouse.job).*;', job)
                FROM wheelhouse.job ORDER BY key",
            "SELECT format('INSERT INTO wheelhouse.dead SELECT (%L::wheelhouse.dead).*;', dead)
                FROM wheelhouse.dead",
            "SELECT format('SELECT setval(%L, %s);', 'wheelhouse.number', last_value)
                FROM wheelhouse.number",
        ] {
            for row in client.query(query, &[]).await.unwrap() {
                text += row.get::<_, &str>(0);
                text.push('\n');
            }
        }
    });
    fs::create_dir_all(file().parent().unwrap()).unwrap();
    fs::write(file(), text).unwrap();
}
