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

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, Store, StoreError};
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
use wheelhouse_store_redis::RedisStore;

pub(crate) const ORDERS: u64 = 16;

const QUEUE: &str = "two-workers";
const KIND: &str = "close-order/1";

/// The duration of an order.
const WORK: Duration = Duration::from_millis(500);

/// How long a job of a dead worker waits for another worker. The default is 30 s.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest time for the whole example.
const PATIENCE: Duration = Duration::from_secs(60);

/// A line of a worker about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) worker: String,
    pub(crate) ended: bool,
    pub(crate) order: u64,
    pub(crate) attempt: u32,
    pub(crate) idempotency_key: String,
}

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
pub(crate) fn work(url: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let worker = name.to_owned();
    let close = move |run: &DurableRun<'_>, order: u64| {
        let say = |what| {
            let (attempt, key) = (run.attempt(), run.idempotency_key());
            println!("said\t{worker}\t{what}\t{order}\t{attempt}\t{key}");
        };
        say("begins");
        std::thread::sleep(WORK);
        say("ends");
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

/// Parses a line of a worker; `None` for other output.
fn read(line: &str) -> Option<Said> {
    let (_, said) = line.split_once("said\t")?;
    let mut parts = said.splitn(5, '\t');
    let mut part = || parts.next();
    Some(Said {
        worker: part()?.to_owned(),
        ended: part()? == "ends",
        order: part()?.parse().ok()?,
        attempt: part()?.parse().ok()?,
        idempotency_key: part()?.to_owned(),
    })
}

/// A worker process, which is killed when this value is dropped.
struct Worker(Child);

impl Worker {
    fn start(mut command: Command, to: Sender<Said>) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take();
        std::thread::spawn(move || {
            let lines = said.into_iter().flat_map(|out| BufReader::new(out).lines()).flatten();
            // Ends when the receiver is dropped.
            lines.filter_map(|line| read(&line)).try_for_each(|said| to.send(said))
        });
        Ok(Self(child))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Schedules the orders, all due in a second. First removes jobs that an interrupted run has left.
fn schedule(url: &str) -> Result<(), Box<dyn Error>> {
    let mut store = connect(url)?;
    let left = store.scan(None, usize::MAX)?.into_iter();
    store.commit(&left.map(|job| Change::Cancel { key: job.key }).collect::<Vec<_>>())?;
    // Without handlers, so this process runs no jobs.
    let timers = Durable::start(store, Handlers::new())?;
    let order = |n: u64| {
        let plan = timers.after(Duration::from_secs(1)).replacing(format!("order-{n}"));
        plan.submit(KIND, &n)
    };
    let commits: Vec<_> = (1..=ORDERS).map(order).collect();
    for commit in commits {
        commit.wait()?;
    }
    timers.stop();
    Ok(())
}

/// Runs the example. `start` returns the command of a worker with the given name. Returns all lines
/// of the workers, in order.
pub(crate) fn play(
    url: &str,
    start: impl Fn(&str) -> Command,
    out: &mut dyn Write,
) -> Result<Vec<Said>, Box<dyn Error>> {
    schedule(url)?;
    writeln!(out, "{ORDERS} orders are scheduled; two workers start")?;
    let (to, from) = channel();
    let mut a = Worker::start(start("A"), to.clone())?;
    let mut b = Worker::start(start("B"), to)?;
    let begun = Instant::now();
    let mut all = Vec::new();
    let mut killed = false;
    while ended(&all).len() as u64 != ORDERS {
        let said = next(&from, begun)?;
        tell(out, begun.elapsed(), &said)?;
        let begins = said.worker == "A" && !said.ended;
        all.push(said);
        if !killed && begins && all.iter().any(|said| said.worker == "A" && said.ended) {
            // Like a crash: the worker tells the server nothing.
            a.0.kill()?;
            a.0.wait()?;
            killed = true;
            writeln!(out, "        A IS KILLED; its leases last {VISIBILITY_TIMEOUT:?} at most")?;
        }
    }
    // A may have been killed between the end of an order and its ack: then B closes it again.
    let mut store = connect(url)?;
    while !store.scan(None, 1)?.is_empty() {
        if begun.elapsed() > PATIENCE {
            return Err("a job is left after 60 s".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // B's input ends, and B stops.
    drop(b.0.stdin.take());
    b.0.wait()?;
    all.extend(from.try_iter());
    Ok(all)
}

fn tell(out: &mut dyn Write, since: Duration, said: &Said) -> std::io::Result<()> {
    let Said { worker, ended, order, attempt, idempotency_key } = said;
    let what = if *ended { "has closed" } else { "begins" };
    let since = since.as_secs_f32();
    writeln!(
        out,
        "{since:4.1} s  {worker} {what:10} {order:2}, attempt {attempt}, {idempotency_key}"
    )
}

fn next(from: &Receiver<Said>, begun: Instant) -> Result<Said, Box<dyn Error>> {
    let left = PATIENCE.saturating_sub(begun.elapsed());
    Ok(from.recv_timeout(left).map_err(|_| "the workers have not finished after 60 s")?)
}

/// The orders that were closed.
fn ended(all: &[Said]) -> BTreeSet<u64> {
    all.iter().filter(|said| said.ended).map(|said| said.order).collect()
}

/// The orders that A had begun and not closed, with the idempotency keys of their attempts.
pub(crate) fn taken_over(all: &[Said]) -> BTreeMap<u64, BTreeSet<&str>> {
    let closed =
        |order| all.iter().any(|said| said.worker == "A" && said.ended && said.order == order);
    let cut = all.iter().filter(|said| said.worker == "A" && !closed(said.order));
    let mut keys: BTreeMap<u64, BTreeSet<&str>> =
        cut.map(|said| (said.order, BTreeSet::new())).collect();
    for said in all {
        if let Some(keys) = keys.get_mut(&said.order) {
            keys.insert(&said.idempotency_key);
        }
    }
    keys
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, url, name] = &arguments[..]
        && role == "worker"
    {
        return work(url, name);
    }
    let url = arguments.first().map_or("redis://127.0.0.1/", String::as_str);
    let program = std::env::current_exe()?;
    let start = |name: &str| {
        let mut command = Command::new(&program);
        command.args(["worker", url, name]);
        command
    };
    let all = play(url, start, &mut std::io::stdout())?;
    println!("\n{} of {ORDERS} orders are closed, none is lost", ended(&all).len());
    for (order, keys) in taken_over(&all) {
        let keys: Vec<&str> = keys.into_iter().collect();
        println!("order {order}: begun by A, closed by B, key {}", keys.join(" and "));
    }
    Ok(())
}
