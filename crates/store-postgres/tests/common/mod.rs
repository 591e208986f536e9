//! Clients of users, and a program.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::mpsc::{Receiver, channel};
use tokio_postgres::{Client, NoTls};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_postgres::{PostgresStore, tokio_postgres};
use wheelhouse_test_servers::{Server, queue};

/// Runs async code of a user.
pub(crate) fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(call)
}

/// Connects a client, whose connection the runtime drives.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Executes commands by a new client, each as its own transaction.
pub(crate) fn execute(url: &str, commands: &[&str]) {
    run(async {
        let client = connect(url).await;
        for command in commands {
            client.batch_execute(command).await.unwrap();
        }
    });
}

/// A store on a new queue of the shared server, with the URL and the queue; `None` if PostgreSQL is
/// not installed.
pub(crate) fn shared_store() -> Option<(PostgresStore, String, String)> {
    let (url, queue) = (Server::shared_postgres()?.url(), queue());
    Some((PostgresStore::connect(&url, &queue).unwrap(), url, queue))
}

/// Starts a program on a queue. Also returns the payloads that its handler is called with.
pub(crate) fn start(store: PostgresStore) -> (Durable, Receiver<u64>) {
    let (sender, ran) = channel();
    let handlers = Handlers::new().on("work/1", move |_, n: u64| {
        sender.send(n)?;
        Ok(Next::Done)
    });
    (Durable::start(store, handlers).expect("it starts"), ran)
}
