//! A database of format 1, as the first version wrote it: every later one must read it.

mod common;

use common::{shared, url};
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use tokio_postgres::{Client, NoTls};
use wheelhouse_durable::store::Timestamp;
use wheelhouse_store_conformance::{read_golden, write_golden};
use wheelhouse_store_postgres::{PostgresStore, tokio_postgres};
use wheelhouse_test_servers::Server;

/// When it was written, in milliseconds since 1970.
const WRITTEN: u64 = 1_790_000_000_000;

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", "format-1.sql"].iter().collect()
}

fn store(url: &str, millis: u64) -> PostgresStore {
    let now = move || Timestamp::from_millis(millis);
    PostgresStore::builder(url, "golden").unwrap().clock(now).connect().unwrap()
}

fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(call)
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[test]
fn a_database_of_format_1_can_be_read() {
    let Some(url) = shared() else { return };
    let database = format!("{}golden", url.strip_suffix("postgres").unwrap());
    run(async {
        connect(&url).await.batch_execute("CREATE DATABASE golden").await.unwrap();
        let golden = fs::read_to_string(file()).unwrap();
        connect(&database).await.batch_execute(&golden).await.unwrap();
    });
    let mut store = store(&database, WRITTEN + 60_000);
    assert_eq!(store.format(), 1);
    read_golden(&mut store);
    // An index of the first version is replaced.
    run(async {
        let indexes = "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes
                       WHERE tablename = 'job'";
        let row = connect(&database).await.query_one(indexes, &[]).await.unwrap();
        assert_eq!(row.get::<_, &str>(0), "job_pkey job_turn");
    });
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
