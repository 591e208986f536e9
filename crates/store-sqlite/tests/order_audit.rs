//! The example, killed again and again: nothing is lost, nothing is early.

#[path = "../examples/order_audit_durable.rs"]
#[allow(dead_code)]
mod order_audit_durable;

use order_audit_durable::{audit, report};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ORDERS: u64 = 400;

/// In the process that is killed: the example itself. Not a test of its own.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    let folder = std::env::var("ORDER_AUDIT_FOLDER").expect("the parent says where");
    audit(Path::new(&folder), ORDERS).unwrap();
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env("ORDER_AUDIT_FOLDER", folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Killed six times, while orders are placed and while they are closed; then left alone.
#[test]
fn orders_survive_kills() {
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let mut kills = 0;
    for pause in [60, 130, 350, 800, 1_400, 900] {
        let mut child = start(folder.path());
        std::thread::sleep(Duration::from_millis(pause));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut last = start(folder.path());
    assert!(last.wait().unwrap().success(), "the last one comes to an end");
    let report = report(folder.path()).unwrap();
    println!("{kills} kills, {:?}: {report:?}", begin.elapsed());
    assert!(kills >= 3, "{kills} kills met a running program");
    assert_eq!((report.placed, report.lost, report.early, report.twice), (ORDERS, 0, 0, 0));
    assert!(report.closed >= ORDERS - ORDERS / 20, "{report:?}");
}
