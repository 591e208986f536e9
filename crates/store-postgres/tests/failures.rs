//! Failures that a store on a PostgreSQL must survive.

use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::{Server, server_suite};

server_suite!(Server::postgres, |url, queue| PostgresStore::builder(url, queue)?);
