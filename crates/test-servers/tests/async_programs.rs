//! A tokio program starts, uses and stops durable timers, from every kind of place where code can
//! run.

use std::error::Error;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{block_in_place, spawn_blocking};
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Cancel, Durable, Handlers, Next};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;
use wheelhouse_test_servers::Server;

const HOUR: Duration = Duration::from_secs(3_600);

fn handlers(ran: Sender<Vec<u8>>) -> Handlers {
    Handlers::new().on_bytes("work/1", move |_, payload| {
        ran.send(payload.to_vec())?;
        Ok(Next::Done)
    })
}

/// Connects, makes each blocking call, and stops; then starts once more and only drops. It leaves
/// no job behind, so it can run again on the same store.
fn program(connect: &impl Fn() -> Box<dyn Store>) -> Result<(), Box<dyn Error>> {
    let (sender, ran) = channel();
    let timers = Durable::start(connect(), handlers(sender.clone()))?;
    timers.after(Duration::ZERO).key("now").schedule_bytes("work/1", "now")?;
    assert_eq!(ran.recv_timeout(Duration::from_secs(30))?, b"now");
    timers.after(HOUR).key("later").schedule_bytes("work/1", "later")?;
    timers.refresh("later", HOUR * 2)?;
    assert!(timers.find("later")?.is_some());
    timers.cron("0 9 * * *", "UTC")?.keeping("daily").schedule_bytes("work/1", "daily")?;
    assert!(timers.dead(None, 9)?.is_empty());
    assert_eq!(timers.cancel("later")?, Cancel::Cancelled);
    assert_eq!(timers.cancel("daily")?, Cancel::Cancelled);
    timers.stop();
    drop(Durable::start(connect(), handlers(sender))?);
    drop(connect());
    Ok(())
}

/// A program whose handler is an async function, and which awaits commits and the stop.
async fn awaits(connect: &impl Fn() -> Box<dyn Store>) -> Result<(), Box<dyn Error>> {
    let (sender, ran) = channel();
    let handler = move |_, payload: Vec<u8>| {
        let sender = sender.clone();
        async move {
            tokio::task::yield_now().await;
            sender.send(payload)?;
            Ok(Next::Done)
        }
    };
    let tokio = tokio::runtime::Handle::current();
    let timers = Durable::builder(Handlers::new().on_async_bytes("work/1", handler))
        .spawn_on(move |run| drop(tokio.spawn(run)))
        .start(connect())?;
    timers.after(Duration::ZERO).key("now").submit_bytes("work/1", "awaited").await?;
    timers.after(HOUR).key("later").submit_bytes("work/1", "").await?;
    assert_eq!(ran.recv_timeout(Duration::from_secs(30))?, b"awaited");
    assert_eq!(timers.submit_cancel("later").await?, Cancel::Cancelled);
    timers.stop_async().await;
    Ok(())
}

fn everywhere(connect: impl Fn() -> Box<dyn Store> + Clone + Send + Sync + 'static) {
    let runtime = Runtime::new().unwrap();
    let run = |what: &str| program(&connect).unwrap_or_else(|error| panic!("{what}: {error}"));
    run("no runtime");
    runtime.block_on(async { run("async code") });
    runtime.block_on(awaits(&connect)).expect("async handlers");
    let its = connect.clone();
    let task = runtime.spawn(async move { program(&its).map_err(|error| error.to_string()) });
    runtime.block_on(task).unwrap().expect("in a task");
    let its = connect.clone();
    let blocking = move || program(&its).map_err(|error| error.to_string());
    runtime.block_on(async { spawn_blocking(blocking).await }).unwrap().expect("spawn_blocking");
    runtime.block_on(async { block_in_place(|| run("block_in_place")) });
    let entered = runtime.enter();
    run("under Runtime::enter");
    drop(entered);
    let of_one_thread = Builder::new_current_thread().build().unwrap();
    of_one_thread.block_on(async { run("async code of one thread, without a driver") });
}

#[test]
fn a_program_on_tokio_uses_postgresql() {
    let Some(server) = Server::postgres() else { return };
    let url = server.url();
    everywhere(move || Box::new(PostgresStore::connect(&url, "orders").expect("it connects")));
}

#[test]
fn a_program_on_tokio_uses_redis() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = server.url();
    everywhere(move || Box::new(RedisStore::connect(&url, "orders").expect("it connects")));
}

#[test]
fn a_program_on_tokio_uses_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.timers");
    everywhere(move || Box::new(SqliteStore::open(&file).expect("it opens")));
}
