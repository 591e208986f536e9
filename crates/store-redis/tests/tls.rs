//! Encrypted connections, to a real server: `cargo test --features tls --test tls`.

use wheelhouse_store_conformance::jobs::fails;
use wheelhouse_store_redis::RedisStore;

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_with_tls_is_refused_with_a_remedy() {
    for url in ["rediss://127.0.0.1:1/", "valkeys://127.0.0.1:1/"] {
        assert!(!fails(RedisStore::connect(url, "q"), "feature `tls`").is_transient());
    }
}

#[cfg(feature = "tls")]
mod encrypted {
    use super::{RedisStore, fails};
    use std::time::Duration;
    use wheelhouse_test_servers::{Server, encryption};

    #[test]
    fn a_store_works_on_a_server_that_only_encrypts() {
        let Some((server, root)) = Server::redis_with_tls() else { return };
        let url = server.url();
        encryption::a_store_works_encrypted(|| {
            RedisStore::builder(&url, "q").root_certificates(root.clone()).connect()
        });
        let plain = url.replace("rediss", "redis");
        let hasty = RedisStore::builder(&plain, "q").timeout(Duration::from_millis(300));
        assert!(hasty.connect().is_err(), "the server accepts unencrypted connections");
    }

    #[test]
    fn an_unknown_server_is_refused_at_once() {
        let Some((server, _)) = Server::redis_with_tls() else { return };
        let url = server.url();
        encryption::an_unknown_server_is_refused_at_once(|| RedisStore::connect(&url, "q"));
        let error = RedisStore::builder(&url, "q").root_certificates("nothing").connect();
        assert!(!error.unwrap_err().is_transient());
        let plain = url.replace("rediss", "redis");
        let answer = RedisStore::builder(&plain, "q").root_certificates("-").connect();
        assert!(!fails(answer, "rediss://").is_transient());
    }

    #[test]
    fn a_server_that_does_not_encrypt_gives_a_hint() {
        let Some(server) = Server::redis(&[]) else { return };
        let url = format!("rediss://{}/", server.address());
        let hasty = RedisStore::builder(&url, "q").timeout(Duration::from_millis(300));
        fails(hasty.connect(), "rediss://");
    }
}
