//! An order that is not paid in time is closed, even if the program is killed meanwhile: the jobs
//! lie in a file. Run it, kill it with ctrl-C in the middle, run it again: it goes on.
//!
//! ```sh
//! cargo run --release -p wheelhouse-store-sqlite --example order_audit_durable
//! ```
//!
//! What was closed is written to a ledger, a line for each order. A line may be there twice, since
//! a program may be killed after it wrote it and before that was acknowledged: at least once. Both
//! lines have the same idempotency key, so whoever reads the ledger counts one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
use wheelhouse_store_sqlite::{DurableExt, SqliteStore};

/// Half an hour, in a shop that is in more of a hurry.
const TIME_TO_PAY: Duration = Duration::from_secs(3);

/// Milliseconds since 1970.
fn now() -> Result<u128, Box<dyn Error + Send + Sync>> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis())
}

/// Places orders that are not there yet, and closes what is not paid, until nothing is left.
pub(crate) fn audit(folder: &Path, orders: u64) -> Result<(), Box<dyn Error>> {
    let ledger = folder.join("ledger.txt");
    let close = move |run: &DurableRun<'_>, order: u64| {
        let mut file = OpenOptions::new().create(true).append(true).open(&ledger)?;
        // In one write, so that a line is there or not.
        let (due, now, key) = (run.due().as_millis(), now()?, run.idempotency_key());
        file.write_all(format!("{order} {due} {now} {key}\n").as_bytes())?;
        file.sync_data()?;
        Ok(Next::Done)
    };
    let handlers = Handlers::new().on("close-order/1", close);
    let timers = Durable::open(folder.join("orders.timers"), handlers)?;

    // The shop's own record of what it has ordered; a job is durable before its order is placed.
    let placed = folder.join("placed.txt");
    let mut shop = OpenOptions::new().create(true).append(true).open(&placed)?;
    for order in count(&placed)?..orders {
        let key = format!("order-{order}");
        // If the program was killed between both, the job is there already, and is replaced.
        timers.after(TIME_TO_PAY).replacing(&key).schedule("close-order/1", &order)?;
        shop.write_all(
            format!("{order} {}\n", now().map_err(|error| error.to_string())?).as_bytes(),
        )?;
        // Each twentieth is paid.
        if order % 20 == 0 {
            timers.cancel(&key)?;
        }
    }
    let mut file = SqliteStore::open_to_read(folder.join("orders.timers"))?;
    while is_pending(&mut file)? {
        std::thread::sleep(Duration::from_millis(20));
    }
    timers.stop();
    Ok(())
}

fn is_pending(store: &mut SqliteStore) -> Result<bool, Box<dyn Error>> {
    use wheelhouse_durable::store::Store;
    let mut pending = false;
    store.scan(None, 1, &mut |_| pending = true)?;
    Ok(pending)
}

fn count(lines: &Path) -> Result<u64, Box<dyn Error>> {
    Ok(BufReader::new(File::open(lines)?).lines().count().try_into()?)
}

/// What the ledger says when all is over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Orders placed.
    pub(crate) placed: u64,
    /// Orders closed.
    pub(crate) closed: u64,
    /// Orders that are neither paid nor closed.
    pub(crate) lost: u64,
    /// Orders closed before their time.
    pub(crate) early: u64,
    /// Lines that stand for an order that another line stands for.
    pub(crate) repeated: u64,
    /// Orders that were closed under two idempotency keys.
    pub(crate) twice: u64,
}

pub(crate) fn report(folder: &Path) -> Result<Report, Box<dyn Error>> {
    let mut placed = BTreeMap::new();
    for line in BufReader::new(File::open(folder.join("placed.txt"))?).lines() {
        let line = line?;
        let (order, time) = line.split_once(' ').ok_or("a line of two")?;
        placed.insert(order.parse::<u64>()?, time.parse::<u128>()?);
    }
    let mut keys: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut early = 0;
    for line in BufReader::new(File::open(folder.join("ledger.txt"))?).lines() {
        let line = line?;
        let [order, due, closed, key] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err("a line of four".into());
        };
        early += u64::from(closed.parse::<u128>()? < due.parse()?);
        keys.entry(order.parse()?).or_default().push(key.to_owned());
    }
    let is_paid = |order: u64| order.is_multiple_of(20);
    let lost = placed.keys().filter(|order| !is_paid(**order) && !keys.contains_key(order)).count();
    let twice = keys.values().filter(|keys| keys.iter().any(|key| *key != keys[0])).count();
    let lines: usize = keys.values().map(Vec::len).sum();
    Ok(Report {
        placed: placed.len().try_into()?,
        closed: keys.len().try_into()?,
        lost: lost.try_into()?,
        early,
        repeated: (lines - keys.len()).try_into()?,
        twice: twice.try_into()?,
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let orders = arguments.next().map_or(Ok(2_000), |number| number.parse())?;
    let folder =
        arguments.next().map_or_else(|| std::env::temp_dir().join("order_audit"), Into::into);
    std::fs::create_dir_all(&folder)?;
    println!("{orders} orders, jobs in {}: kill me, and start me again", folder.display());
    audit(&folder, orders)?;
    println!("{:?}", report(&folder)?);
    Ok(())
}
