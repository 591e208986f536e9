//! The example, killed repeatedly: no order is lost, and none is closed early.

#[path = "../examples/order_audit_durable.rs"]
#[allow(dead_code)]
mod order_audit_durable;

use order_audit_durable::{audit, report};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ORDERS: u64 = 400;

/// Runs the example in the process that is killed. Not a test by itself.
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

/// The example is killed six times, while it places orders and while it closes them. Then it runs
/// to its end.
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
    assert!(last.wait().unwrap().success(), "the last process succeeds");
    let report = report(folder.path()).unwrap();
    println!("{kills} kills, {:?}: {report:?}", begin.elapsed());
    assert!(kills >= 3, "{kills} kills met a running program");
    assert_eq!((report.placed, report.lost, report.early, report.twice), (ORDERS, 0, 0, 0));
    assert!(report.closed >= ORDERS - ORDERS / 20, "{report:?}");
}
