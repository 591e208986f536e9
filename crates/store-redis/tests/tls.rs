//! Encrypted connections, to a real server: `cargo test --features tls --test tls`.

use wheelhouse_store_redis::RedisStore;

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_with_tls_is_refused_with_a_remedy() {
    for url in ["rediss://127.0.0.1:1/", "valkeys://127.0.0.1:1/"] {
        let error = RedisStore::connect(url, "q").unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("feature `tls`"), "{error}");
    }
}

#[cfg(feature = "tls")]
mod encrypted {
    use super::RedisStore;
    use std::time::{Duration, Instant};
    use wheelhouse_durable::store::{Change, Key, Outcome, Put, Store, When};
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

    #[test]
    fn a_store_works_on_a_server_that_only_encrypts() {
        let Some((server, root)) = Server::redis_with_tls() else { return };
        let (plain, encrypted) =
            (format!("redis://{}/", server.address()), format!("rediss://{}/", server.address()));
        let builder = || RedisStore::builder(&encrypted, "q").root_certificates(root.clone());
        let mut store = builder().connect().unwrap();
        let (sender, woken) = std::sync::mpsc::channel();
        store.wake_by(std::sync::Arc::new(move || sender.send(()).unwrap_or_default()));
        woken.recv_timeout(Duration::from_secs(10)).expect("it listens");
        let mut other = builder().connect().unwrap();
        assert_eq!(other.commit(&[put("a"), put("b")]).unwrap(), [Outcome::Done; 2]);
        woken.recv_timeout(Duration::from_secs(10)).expect("it is woken");
        let row = store.find(&Key::new("a").unwrap()).unwrap().unwrap();
        assert_eq!(row.payload, vec![7; 100_000]);
        let hasty = RedisStore::builder(&plain, "q").timeout(Duration::from_millis(300));
        assert!(hasty.connect().is_err(), "it takes what is not encrypted");
    }

    #[test]
    fn a_server_that_nobody_vouches_for_is_refused_at_once() {
        let Some((server, _)) = Server::redis_with_tls() else { return };
        let begun = Instant::now();
        let url = format!("rediss://{}/", server.address());
        let error = RedisStore::connect(&url, "q").unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("certificate"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(5), "it waited for {:?}", begun.elapsed());
        let error = RedisStore::builder(&url, "q").root_certificates("nothing").connect();
        assert!(!error.unwrap_err().is_transient());
    }
}
