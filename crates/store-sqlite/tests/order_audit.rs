//! The example, killed repeatedly: no order is lost, and none is closed early.

mod common;
#[path = "../examples/order_audit_durable.rs"]
#[allow(dead_code)]
mod order_audit_durable;

use common::{Process, file};
use order_audit_durable::{audit, report};
use std::time::Duration;

const ORDERS: u64 = 400;

/// Runs the example in the process that is killed. Not a test by itself.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    audit(&file(), ORDERS).unwrap();
}

/// The example is killed six times, while it places orders and while it closes them. Then it runs
/// to its end.
#[test]
fn orders_survive_kills() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Process::start("child", folder.path());
    let mut kills = 0;
    for pause in [60, 130, 350, 800, 1_400, 900] {
        let mut process = start();
        std::thread::sleep(Duration::from_millis(pause));
        kills += u32::from(process.child.try_wait().unwrap().is_none());
        process.kill();
    }
    assert!(start().succeeds(), "the last process succeeds");
    let report = report(folder.path()).unwrap();
    println!("{kills} kills: {report:?}");
    assert!(kills >= 3, "{kills} kills met a running program");
    assert_eq!((report.placed, report.lost, report.early, report.twice), (ORDERS, 0, 0, 0));
    assert!(report.closed >= ORDERS - ORDERS / 20, "{report:?}");
}
