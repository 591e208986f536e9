//! Two worker processes on one Redis. One is killed while it works, and no job is lost: when its
//! leases have run out, the other worker runs its jobs again.
//!
//! ```sh
//! apt-get install redis-server
//! cargo run --release -p wheelhouse-store-redis --example two_workers [redis://127.0.0.1/]
//! ```
//!
//! The program schedules some orders, starts itself twice as a worker, and kills one worker. A
//! worker prints when it begins and ends an order; the end is the effect. An order of the killed
//! worker ends under the *idempotency key* of its first attempt. So the receiver of the effect can
//! distinguish a repetition from another order.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;
use wheelhouse_durable::store::{Change, Store, StoreError};
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
use wheelhouse_store_redis::RedisStore;

const ORDERS: u64 = 16;
const QUEUE: &str = "two-workers";
const KIND: &str = "close-order/1";

/// The duration of an order.
const WORK: Duration = Duration::from_millis(500);

/// How long a job of a dead worker waits for another worker. The default is 30 s.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(2);

/// Connects unchecked, because this example may lose data. In production use `RedisStore::connect`,
/// which refuses a server that would lose acknowledged jobs.
fn connect(url: &str) -> Result<RedisStore, Box<dyn Error>> {
    RedisStore::builder(url, QUEUE).unchecked().connect().map_err(|error| match error {
        StoreError::Unavailable(why) => format!(
            "no Redis answers at {url} ({why}): apt-get install redis-server && redis-server \
             --appendonly yes, or name another URL"
        )
        .into(),
        error => error.into(),
    })
}

/// Runs jobs until standard input ends. It ends with the parent process at the latest.
fn work(url: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let worker = name.to_owned();
    let close = move |run: &DurableRun<'_>, order: u64| {
        let (attempt, key) = (run.attempt(), run.idempotency_key());
        println!("{worker} begins {order} (attempt {attempt}, {key})");
        std::thread::sleep(WORK);
        println!("{worker} closes {order} (attempt {attempt}, {key})");
        Ok(Next::Done)
    };
    let timers = Durable::builder(Handlers::new().on(KIND, close))
        .queue(QUEUE) // the prefix of each idempotency key
        .visibility_timeout(VISIBILITY_TIMEOUT)
        .workers(2)
        .max_in_flight(2) // leaves jobs for the other worker
        .start(connect(url)?)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    timers.stop();
    Ok(())
}

/// Schedules the orders, all due in a second. First removes jobs that an interrupted run has left.
fn schedule(url: &str) -> Result<(), Box<dyn Error>> {
    let mut store = connect(url)?;
    let left = store.scan(None, usize::MAX)?.into_iter();
    store.commit(&left.map(|job| Change::Cancel { key: job.key }).collect::<Vec<_>>())?;
    // Without handlers, so this process runs no jobs.
    let timers = Durable::start(store, Handlers::new())?;
    for n in 1..=ORDERS {
        let plan = timers.after(Duration::from_secs(1)).replacing(format!("order-{n}"));
        plan.schedule(KIND, &n)?;
    }
    timers.stop();
    Ok(())
}

/// A may have been killed between the end of an order and its ack: then B closes it again.
fn wait_for_acks(url: &str) -> Result<(), Box<dyn Error>> {
    let mut store = connect(url)?;
    while !store.scan(None, 1)?.is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Starts the workers, kills A, and waits until B has closed the last order.
fn play(url: &str) -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let (lines, to) = std::io::pipe()?;
    let spawn = |name| {
        let mut command = Command::new(&program);
        command.args(["worker", url, name]).stdin(Stdio::piped()).stdout(to.try_clone()?).spawn()
    };
    let (mut a, mut b) = (spawn("A")?, spawn("B")?);
    drop(to);
    let (mut closed, mut a_lives) = (BTreeSet::new(), true);
    for line in BufReader::new(lines).lines() {
        let line = line?;
        println!("{line}");
        let [worker, what, order] = line.splitn(4, ' ').take(3).collect::<Vec<_>>()[..] else {
            return Err("a line without three words".into());
        };
        if a_lives && (worker, what) == ("A", "begins") && !closed.is_empty() {
            // Like a crash: the worker tells the server nothing.
            a.kill()?;
            a.wait()?;
            a_lives = false;
            println!("A IS KILLED; its leases last {VISIBILITY_TIMEOUT:?} at most");
        }
        if what == "closes" {
            closed.insert(order.to_owned());
        }
        if b.stdin.is_some() && closed.len() as u64 == ORDERS {
            wait_for_acks(url)?;
            // Their input ends, and they stop.
            drop((a.stdin.take(), b.stdin.take()));
        }
    }
    b.wait()?;
    if (closed.len() as u64) < ORDERS {
        return Err("the workers ended before all orders were closed".into());
    }
    println!("{} of {ORDERS} orders are closed, none is lost", closed.len());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, url, name] = &arguments[..]
        && role == "worker"
    {
        return work(url, name);
    }
    let url = arguments.first().map_or("redis://127.0.0.1/", String::as_str);
    schedule(url)?;
    println!("{ORDERS} orders are scheduled; two workers start");
    play(url)
}
