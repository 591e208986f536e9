use wheelhouse_harness::compare::{Comparison, Verdict, compare};
use wheelhouse_harness::model::{FLOOR, Run};

use crate::synthetic;

fn scaled(run: &Run, backend: &str, factor: f64) -> Run {
    let mut other = run.clone();
    let rows = other.throughput.iter_mut().filter(|r| r.backend == backend);
    rows.for_each(|r| r.ns_per_op.iter_mut().for_each(|ns| *ns *= factor));
    other
}

fn verdicts(comparison: &Comparison<'_>, backend: &str) -> Vec<Verdict> {
    let rows = comparison.rows.iter().filter(|r| r.row.backend == backend && r.ratio.is_some());
    rows.map(|r| r.verdict()).collect()
}

#[test]
fn the_same_run_twice_is_within_noise() {
    let run = synthetic::run();
    let comparison = compare(&run, &run);
    assert_eq!(comparison.rows.len(), run.throughput.len());
    assert_eq!((comparison.count(Verdict::Faster), comparison.count(Verdict::Slower)), (0, 0));
    assert_eq!(comparison.count(Verdict::Undecided), 2, "a lone sample, and a row of zeros");
    let only_of_failures = comparison.warnings.iter().all(|w| w.contains("wrong answers"));
    assert!(only_of_failures, "{:?}", comparison.warnings);
}

#[test]
fn faster_and_slower_describe_b_and_one_percent_is_noise_even_if_samples_agree() {
    let a = synthetic::run();
    let mut even = a.clone();
    even.throughput.iter_mut().for_each(|r| r.ns_per_op.fill(100.0));
    for (a, factor, expected) in [
        (&a, 0.5, Verdict::Faster),
        (&a, 1.5, Verdict::Slower),
        (&even, 1.01, Verdict::WithinNoise),
        (&even, 1.03, Verdict::Slower),
    ] {
        let comparison = compare(a, &scaled(a, "binary-heap", factor));
        let found = verdicts(&comparison, "binary-heap");
        assert!(!found.is_empty() && found.iter().all(|it| *it == expected), "{factor}: {found:?}");
        assert!(verdicts(&comparison, "round-wheel").iter().all(|v| *v == Verdict::WithinNoise));
        let row = comparison.rows.iter().find(|r| r.row.backend == "binary-heap").unwrap();
        assert!((row.ratio.unwrap().ratio - factor).abs() < 1e-9, "{row:?}");
        assert_eq!(row.b < row.a, factor < 1.0, "{row:?}");
    }
}

#[test]
fn differences_between_the_runs_are_warnings() {
    let a = synthetic::run();
    let mut b = scaled(&a, FLOOR, 1.4);
    b.provenance.cpu = "Another CPU".to_owned();
    b.provenance.rustc = "rustc 1.96.0".to_owned();
    b.provenance.seed = 2;
    (b.seeds, b.payload) = (5, 64);
    b.provenance.pinned_to = None;
    b.provenance.dirty = true;
    b.interrupted = true;
    b.throughput.truncate(30);
    let warnings = compare(&a, &b).warnings.join("\n");
    let wanted = [
        "processor differs (A: Example(R) CPU @ 2.00GHz, B: Another CPU)",
        "compiler differs",
        "seed differs",
        "number of seeds differs (A: 1, B: 5)",
        "size of the values differs (A: 8, B: 64)",
        "pinned",
        "B was built from a tree with uncommitted changes",
        "B was interrupted",
        "rows of A that B does not have",
        "the floor itself took 1.40 times as long in B",
    ];
    for part in wanted {
        assert!(warnings.contains(part), "{part} is missing in: {warnings}");
    }
    assert!(!warnings.contains("A was built"), "{warnings}");
}

#[test]
fn the_table_shows_ratio_interval_and_verdict() {
    let a = synthetic::run();
    let table = compare(&a, &scaled(&a, "skip-list", 2.0)).table();
    let json = table.json();
    let row = json.as_array().unwrap().iter().find(|r| r["structure"] == "skip-list").unwrap();
    assert_eq!(row["verdict"], "slower");
    assert!((row["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    assert!(row["interval"]["low"].as_f64() < row["interval"]["high"].as_f64());
    let notes = table.notes.join("\n");
    for part in ["differ within one process", "does not cover the layout of memory", "Repeat both"]
    {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    assert!(!notes.contains("chance"), "chance does not count across processes: {notes}");
}
