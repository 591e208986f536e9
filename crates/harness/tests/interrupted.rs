//! Ctrl-C, which interrupts all runs of a process.

mod common;

use common::{WithCallback, settings};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::store;
use wheelhouse_machine::interrupt;

#[test]
fn ctrl_c_ends_a_run_between_two_plays_and_leaves_no_partial_rows() {
    let dir = tempfile::tempdir().unwrap();
    let plays = Rc::new(Cell::new(0));
    let counted = Rc::clone(&plays);
    let structures = WithCallback::alone(move |_| {
        counted.set(counted.get() + 1);
        interrupt::request_for_test(counted.get() == 10);
    });
    let settings =
        Settings { time: Duration::from_secs(10), details: true, ..settings(structures) };
    for when in ["during a sample of many plays", "before the first measurement"] {
        let (run, _) = bench::run(&settings, dir.path()).unwrap();
        assert!(run.interrupted && run.throughput.is_empty(), "{when}");
        assert_eq!(run.interruption(), Some("interrupted before anything was measured"), "{when}");
        assert!(store::load(dir.path()).unwrap().interrupted, "{when}");
        assert_eq!(plays.get(), 10, "{when}");
    }
}
