//! Closes orders that are not paid in time, even if the program is killed: the jobs are in a file.
//! Run it, kill it with ctrl-C, and run it again: it continues.
//!
//! ```sh
//! cargo run --release -p wheelhouse-store-sqlite --example order_audit_durable
//! ```
//!
//! A ledger gets a line for each closed order. An order may have two lines, because the program may
//! be killed after it wrote the line and before the run was acknowledged: jobs run at least once.
//! Both lines have the same idempotency key, so a reader of the ledger counts one.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
use wheelhouse_store_sqlite::{DurableExt, SqliteStore};

/// The time to pay an order. A real shop would use half an hour.
const TIME_TO_PAY: Duration = Duration::from_secs(3);

/// Places the orders that are missing, and closes unpaid orders until no job is left.
pub(crate) fn audit(folder: &Path, orders: u64) -> Result<(), Box<dyn Error>> {
    let ledger = folder.join("ledger.txt");
    let close = move |run: &DurableRun<'_>, order: u64| {
        let mut file = OpenOptions::new().create(true).append(true).open(&ledger)?;
        // One write, so that a line is written completely or not at all.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
        let (due, key) = (run.due().as_millis(), run.idempotency_key());
        file.write_all(format!("{order} {due} {now} {key}\n").as_bytes())?;
        file.sync_data()?;
        Ok(Next::Done)
    };
    let handlers = Handlers::new().on("close-order/1", close);
    let timers = Durable::open(folder.join("orders.timers"), handlers)?;

    // The shop's record of its orders. The job is durable before the order is placed.
    let placed = folder.join("placed.txt");
    let mut shop = OpenOptions::new().create(true).append(true).open(&placed)?;
    for order in fs::read_to_string(&placed)?.lines().count() as u64..orders {
        let key = format!("order-{order}");
        // If the program was killed in between, the job exists already, and is replaced.
        timers.after(TIME_TO_PAY).replacing(&key).schedule("close-order/1", &order)?;
        shop.write_all(format!("{order}\n").as_bytes())?;
        // Every twentieth order is paid.
        if order % 20 == 0 {
            timers.cancel(&key)?;
        }
    }
    let mut file = SqliteStore::open_to_read(folder.join("orders.timers"))?;
    while !file.scan(None, 1)?.is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    timers.stop();
    Ok(())
}

/// The contents of the ledger, compared with the orders.
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
    /// Further lines of orders that have a line already.
    pub(crate) repeated: u64,
    /// Orders closed under two idempotency keys.
    pub(crate) twice: u64,
}

pub(crate) fn report(folder: &Path) -> Result<Report, Box<dyn Error>> {
    let placed = fs::read_to_string(folder.join("placed.txt"))?;
    let placed = placed.lines().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let ledger = fs::read_to_string(folder.join("ledger.txt"))?;
    let mut keys: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    let mut early = 0;
    for line in ledger.lines() {
        let [order, due, closed, key] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err("a line without four fields".into());
        };
        early += u64::from(closed.parse::<u128>()? < due.parse()?);
        keys.entry(order.parse()?).or_default().insert(key);
    }
    let is_lost = |order: &&u64| !order.is_multiple_of(20) && !keys.contains_key(order);
    Ok(Report {
        placed: placed.len() as u64,
        closed: keys.len() as u64,
        lost: placed.iter().filter(is_lost).count() as u64,
        early,
        repeated: (ledger.lines().count() - keys.len()) as u64,
        twice: keys.values().filter(|keys| keys.len() > 1).count() as u64,
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let orders = arguments.next().map_or(Ok(2_000), |number| number.parse())?;
    let folder =
        arguments.next().map_or_else(|| std::env::temp_dir().join("order_audit"), Into::into);
    std::fs::create_dir_all(&folder)?;
    println!("{orders} orders, jobs in {}: kill this program, and restart it", folder.display());
    audit(&folder, orders)?;
    println!("{:?}", report(&folder)?);
    Ok(())
}
