//! A database of format 1, as the first version wrote it. Every later version must read it.

mod common;

use common::{connect, execute, run};
use std::fs;
use std::path::PathBuf;
use wheelhouse_durable::store::Timestamp;
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
    let Some(server) = Server::postgres() else { return };
    execute(&server.url(), &[&fs::read_to_string(file()).unwrap()]);
    let mut store = store(&server.url(), WRITTEN + 60_000);
    assert_eq!(store.format(), 1);
    read_golden(&mut store);
}

/// Run by hand, once for each format: `cargo test --test golden -- --ignored`.
#[test]
#[ignore = "writes tests/golden: run it by hand"]
fn write_the_golden_file() {
    let server = Server::postgres().unwrap();
    let url = server.url();
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
    fs::write(file(), text).unwrap();
}
