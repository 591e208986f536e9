//! A structure that answers wrongly gets a failure instead of figures. Others are unaffected.

mod common;

use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::{store, structure, verify};
use wheelhouse_machine::interrupt;

/// The binary heap, and a wheel that is late by design: no answer may be late here.
fn settings() -> Settings {
    let mut structures = structure::select(&["binary-heap".to_owned()]).unwrap();
    structures.extend(structure::approximate());
    Settings { details: true, ..common::settings(structures) }
}

#[test]
fn wrong_answers_are_named_and_not_timed() {
    let settings = settings();
    let verified = verify::verify(&settings.sources, &settings.structures, 200, 1).unwrap();
    let [failure] = &verified.failures[..] else { panic!("{:?}", verified.failures) };
    assert_eq!(failure.backend, "linux-wheel");
    assert!(failure.message.contains("(fire-"), "the phase is named: {}", failure.message);

    let dir = tempfile::tempdir().unwrap();
    let (run, _) = bench::run(&settings, dir.path()).unwrap();
    assert_eq!(run.failures, verified.failures);
    let is_measured = |row: &wheelhouse_harness::model::Throughput| row.ns_per_op.len() >= 3;
    assert!(run.throughput.iter().all(|row| row.backend == "binary-heap" && is_measured(row)));
    assert_eq!(run.throughput.len(), 6);

    // Ctrl-C before the first measurement: the file is complete and marked as interrupted, without
    // partial rows.
    interrupt::request_for_test(true);
    let (run, _) = bench::run(&settings, dir.path()).unwrap();
    interrupt::request_for_test(false);
    assert!(run.interrupted && run.throughput.is_empty());
    assert!(store::load(dir.path()).unwrap().interrupted);
}
