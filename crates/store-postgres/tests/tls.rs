//! Encrypted connections, to a real server: `cargo test --features tls --test tls`.

use wheelhouse_store_postgres::PostgresStore;

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_with_tls_is_refused_with_a_remedy() {
    let error = PostgresStore::connect("postgres://a@127.0.0.1:1/a?sslmode=require", "q");
    let error = error.unwrap_err();
    assert!(!error.is_transient() && error.to_string().contains("feature `tls`"), "{error}");
}

#[cfg(feature = "tls")]
mod encrypted {
    use super::PostgresStore;
    use std::time::{Duration, Instant};
    use wheelhouse_durable::store::{Change, Key, Outcome, Put, Store, When};
    use wheelhouse_store_postgres::tokio_postgres::{self, NoTls};
    use wheelhouse_test_servers::Server;

    fn put(name: &str) -> Change {
        Change::Put(Put {
            key: Key::new(name).unwrap(),
            kind: "work/1".into(),
            payload: vec![7; 100_000],
            policy: String::new(),
            when: When::After(Duration::ZERO),
            replace: false,
        })
    }

    fn how_many_are_encrypted(url: &str) -> i64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            let task = tokio::spawn(connection);
            let row = client.query_one("SELECT count(*) FROM pg_stat_ssl WHERE ssl", &[]).await;
            task.abort();
            row.unwrap().get(0)
        })
    }

    #[test]
    fn a_store_works_encrypted() {
        let Some((server, root)) = Server::postgres_with_tls() else { return };
        let url = format!("postgres://postgres@{}/postgres", server.address());
        let encrypted = format!("{url}?sslmode=require");
        let builder = || {
            let builder = PostgresStore::builder(&encrypted, "q").unwrap();
            builder.root_certificates(root.clone())
        };
        let mut store = builder().connect().unwrap();
        let (sender, woken) = std::sync::mpsc::channel();
        store.wake_by(std::sync::Arc::new(move || sender.send(()).unwrap_or_default()));
        woken.recv_timeout(Duration::from_secs(10)).expect("it listens");
        let mut other = builder().connect().unwrap();
        assert_eq!(other.commit(&[put("a"), put("b")]).unwrap(), [Outcome::Done; 2]);
        woken.recv_timeout(Duration::from_secs(10)).expect("it is woken");
        let row = store.find(&Key::new("a").unwrap()).unwrap().unwrap();
        assert_eq!(row.payload, vec![7; 100_000]);
        assert_eq!(how_many_are_encrypted(&url), 3, "two stores, and who listens");
    }

    #[test]
    fn a_server_that_nobody_vouches_for_is_refused_at_once() {
        let Some((server, _)) = Server::postgres_with_tls() else { return };
        let begun = Instant::now();
        let plain = format!("postgres://postgres@{}/postgres", server.address());
        let url = format!("{plain}?sslmode=require");
        let error = PostgresStore::connect(&url, "q").unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("certificate"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(5), "it waited for {:?}", begun.elapsed());
        // Who does not ask for it is not encrypted, and asks for no certificate.
        PostgresStore::connect(&plain, "q").unwrap();
        assert_eq!(how_many_are_encrypted(&plain), 0);
    }
}
