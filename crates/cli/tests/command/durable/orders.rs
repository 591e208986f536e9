//! The file of a killed program: the example `order_audit_durable`.

#[path = "../../../../store-sqlite/examples/order_audit_durable.rs"]
#[allow(dead_code)]
mod order_audit_durable;

use super::dumped;
use crate::{Scratch, succeeds};
use order_audit_durable::{audit, report};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ORDERS: u64 = 100;

/// Not a test: the example, which runs in the process that is killed.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    let folder = std::env::var("ORDER_AUDIT_FOLDER").expect("the parent sets the folder");
    audit(Path::new(&folder), ORDERS).unwrap();
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durable::orders::child", "--ignored"])
        .env("ORDER_AUDIT_FOLDER", folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The number at the beginning of each line.
fn numbers(file: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // A line without a line end is still being written.
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn orders_of_a_killed_program_are_seen_and_close_when_it_is_back() {
    let scratch = Scratch::new("durable-orders");
    let (placed, ledger) = (scratch.0.join("placed.txt"), scratch.0.join("ledger.txt"));
    let path = scratch.path("orders.timers");
    let mut killed = start(&scratch.0);
    let begun = Instant::now();
    while numbers(&placed).len() < 30 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no orders are placed");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    let seen = dumped(&[&path]);
    let closed = numbers(&ledger);
    let waits = |order: &u64| !order.is_multiple_of(20) && !closed.contains(order);
    let open: Vec<u64> = numbers(&placed).into_iter().filter(waits).collect();
    assert!(!open.is_empty(), "it was killed before all orders were closed");
    for order in open {
        let job = seen.get(&format!("order-{order}")).unwrap_or_else(|| panic!("{order} is lost"));
        assert_eq!((&job["kind"], &job["payload"]), (&"close-order/1".into(), &order.into()));
    }
    let json = succeeds(&["durable", "inspect", &path, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let counted = |name: &str| json["jobs"][0][name].as_u64().unwrap() as usize;
    assert_eq!(counted("pending") + counted("leased"), seen.len());

    assert!(start(&scratch.0).wait().unwrap().success(), "the second run ends");
    assert!(succeeds(&["durable", "inspect", &path]).contains("no job is waiting"));
    let report = report(&scratch.0).unwrap();
    assert_eq!((report.placed, report.lost, report.twice), (ORDERS, 0, 0), "{report:?}");
    // Every twentieth order is paid.
    assert!(report.closed >= ORDERS - ORDERS / 20, "{report:?}");
}
