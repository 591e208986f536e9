//! Encrypted connections, to a real server: `cargo test --features tls --test tls`.

mod common;

use wheelhouse_store_conformance::jobs::fails;
use wheelhouse_store_postgres::PostgresStore;

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_with_tls_is_refused_with_a_remedy() {
    let answer = PostgresStore::connect("postgres://a@127.0.0.1:1/a?sslmode=require", "q");
    assert!(!fails(answer, "feature `tls`").is_transient());
}

#[cfg(feature = "tls")]
mod encrypted {
    use super::common::{connect, run};
    use super::{PostgresStore, fails};
    use wheelhouse_test_servers::{Server, encryption};

    fn how_many_are_encrypted(url: &str) -> i64 {
        let count = "SELECT count(*) FROM pg_stat_ssl WHERE ssl";
        run(async { connect(url).await.query_one(count, &[]).await.unwrap().get(0) })
    }

    fn encrypted_url(server: &Server) -> String {
        server.url() + "?sslmode=require"
    }

    #[test]
    fn a_store_works_encrypted() {
        let Some((server, root)) = Server::postgres_with_tls() else { return };
        let encrypted = encrypted_url(&server);
        let _stores = encryption::a_store_works_encrypted(|| {
            PostgresStore::builder(&encrypted, "q")?.root_certificates(root.clone()).connect()
        });
        assert_eq!(how_many_are_encrypted(&server.url()), 3, "two stores, and the listener");
    }

    #[test]
    fn roots_that_are_of_no_use_are_refused() {
        let url = "postgres://a@127.0.0.1:1/a";
        let refused = |url: &str, roots: &str, remedy| {
            let builder = PostgresStore::builder(url, "q").unwrap().root_certificates(roots);
            assert!(!fails(builder.connect(), remedy).is_transient());
        };
        refused(url, "-", "add `sslmode=require`");
        refused(&format!("{url}?sslmode=require"), "nothing", "no root certificate");
    }

    #[test]
    fn a_server_that_does_not_encrypt_is_refused_at_once() {
        let Some(server) = Server::postgres() else { return };
        let answer = PostgresStore::connect(&encrypted_url(&server), "q");
        assert!(!fails(answer, "set `ssl`").is_transient());
    }

    #[test]
    fn an_unknown_server_is_refused_at_once() {
        let Some((server, _)) = Server::postgres_with_tls() else { return };
        let (plain, encrypted) = (server.url(), encrypted_url(&server));
        let connect = || PostgresStore::connect(&encrypted, "q");
        encryption::an_unknown_server_is_refused_at_once(connect);
        // Without `sslmode=require` nothing is encrypted, and no certificate is checked.
        let _store = PostgresStore::connect(&plain, "q").unwrap();
        assert_eq!(how_many_are_encrypted(&plain), 0);
    }
}
