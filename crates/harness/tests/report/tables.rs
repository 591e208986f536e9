use serde_json::json;
use wheelhouse_harness::model::{FLOOR, Footprint, Latency, Run, Sampling};
use wheelhouse_harness::report::document as full;
use wheelhouse_harness::summary::{at_a_glance, by_size, default_n, in_short, sizes, times};
use wheelhouse_present::table::{Cell, Format, Mark, Table};

use crate::synthetic;

fn field<'a>(table: &'a Table, structure: &str, key: &str) -> &'a Cell {
    let row =
        table.rows.iter().find(|row| row[0].shown == structure).expect("the structure has a row");
    let column = table.columns.iter().position(|c| c.key == key).expect("the column is there");
    &row[column]
}

#[test]
fn the_table_at_a_glance_has_a_column_for_each_operation_and_trace() {
    let table = at_a_glance(&synthetic::run(), None);
    let keys: Vec<&str> = table.columns.iter().map(|c| c.key.as_str()).collect();
    let wanted = "structure insert-cold insert-warm cancel reschedule fire-jump fire-ticks steady \
                  hold replay-nginx replay-kafka tick-p99.9 tick-p99.99 bytes-after-churn";
    assert_eq!(keys.join(" "), wanted);
    let structures: Vec<&str> = table.rows.iter().map(|row| row[0].shown.as_str()).collect();
    let wanted = ["hierarchical-wheel", "round-wheel", "binary-heap", "skip-list", FLOOR];
    assert_eq!(structures, wanted);
    let objects: serde_json::Value = serde_json::from_str(&table.render(Format::Json)).unwrap();
    assert_eq!(objects.as_array().unwrap().len(), wanted.len());
    assert_eq!(objects[0]["structure"], "hierarchical-wheel");
    assert_eq!(objects[0]["steady"], field(&table, "hierarchical-wheel", "steady").value);
    assert!(objects[3]["hold"].is_null(), "a missing row has no figure");
}

#[test]
fn a_title_names_the_size_of_unusual_values() {
    let mut run = synthetic::run();
    let usual = at_a_glance(&run, None).title;
    run.payload = 64;
    let title = at_a_glance(&run, None).title;
    assert_eq!(title, usual.replace(" timers", " timers with values of 64 bytes"));
    assert!(by_size(&run).title.contains("timers with values of 64 bytes"));
}

#[test]
fn the_table_of_all_sizes_has_those_of_traces() {
    let mut run = synthetic::run();
    run.footprints.push(Footprint {
        backend: "binary-heap".to_owned(),
        workload: "trace:nginx".to_owned(),
        peak: 9.0,
        wakeups: 7,
    });
    let rows = by_size(&run).json();
    let of = |n: u64, key: &str| {
        rows.as_array().unwrap().iter().filter(|row| row["n"] == n && !row[key].is_null()).count()
    };
    assert_eq!([of(183_204, "replay-nginx"), of(183_204, "steady")], [5, 0]);
    assert_eq!([of(183_204, "bytes-at-peak"), of(183_204, "wake-ups")], [1, 1]);
    assert_eq!([of(1_000, "replay-nginx"), of(1_000, "steady")], [0, 5]);
}

#[test]
fn each_column_has_one_best_cell_which_is_never_the_floor() {
    let table = at_a_glance(&synthetic::run(), None);
    let columns = table.columns.iter().enumerate().skip(1);
    for (i, column) in columns.filter(|(_, column)| !column.key.starts_with("tick")) {
        let best: Vec<_> = table.rows.iter().filter(|row| row[i].mark == Mark::Best).collect();
        assert_eq!(best.len(), 1, "{}", column.key);
        assert_ne!(best[0][0].shown, FLOOR, "{}", column.key);
        assert_eq!(best[0][i].value["ratio"], json!(1.0));
    }
    let best = field(&table, "hierarchical-wheel", "steady").value["figure"].as_f64().unwrap();
    let heap = &field(&table, "binary-heap", "steady").value;
    assert_eq!(heap["ratio"].as_f64().unwrap(), heap["figure"].as_f64().unwrap() / best);
    assert!(field(&table, FLOOR, "steady").value["figure"].as_f64().unwrap() < best);
}

#[test]
fn a_tail_near_the_floor_has_no_best_cell() {
    let mut run = synthetic::run();
    let marked = |run: &_| {
        let table = at_a_glance(run, None);
        let at = table.columns.iter().position(|column| column.key == "tick-p99.99").unwrap();
        table.rows.iter().filter(|row| row[at].mark == Mark::Best).count()
    };
    for (floor, expected) in [(1_000, 1), (40_000, 0)] {
        for row in run.latency.iter_mut().filter(|row| row.operation == "tick") {
            row.p9999 =
                if row.backend == FLOOR { floor } else { 100_000 + row.backend.len() as u64 };
        }
        assert_eq!(marked(&run), expected, "the floor takes {floor} ns");
    }
}

#[test]
fn a_table_for_a_terminal_has_six_columns_in_table_order() {
    let table = in_short(&synthetic::run(), None);
    let keys: Vec<&str> = table.columns.iter().map(|column| column.key.as_str()).collect();
    let wanted =
        ["insert-warm", "fire-ticks", "steady", "replay-kafka", "tick-p99.99", "bytes-after-churn"];
    assert_eq!(keys[1..], wanted, "an unknown trace is the reader's, and ranks first");
    let shown = table.terminal();
    let mut lines = shown.lines().take_while(|line| !line.starts_with("Median"));
    assert!(lines.all(|line| line.chars().count() <= 100), "too wide:\n{shown}");
}

#[test]
fn wrong_answers_and_missing_rows_have_no_figures() {
    let mut run = synthetic::run();
    let table = at_a_glance(&run, Some(100_000));
    assert_eq!(field(&table, "skip-list", "cancel").shown, "WRONG");
    let steady = field(&table, "skip-list", "steady").mark;
    assert_eq!(steady, Mark::Plain, "another workload is unaffected");
    assert_eq!(field(&at_a_glance(&run, None), "skip-list", "hold").shown, "-");
    assert_eq!(field(&at_a_glance(&run, None), FLOOR, "bytes-after-churn").shown, "-");
    run.failures[0].n = 1_000;
    let wrong = field(&at_a_glance(&run, Some(1_000)), "skip-list", "insert-warm").mark;
    assert_eq!(wrong, Mark::Wrong, "a wrong answer replaces a figure");
}

#[test]
fn structures_without_figures_are_named_below_the_table() {
    let mut run = synthetic::run();
    let slow = "skip-list";
    run.throughput.retain(|row| {
        row.backend != slow || row.n < 1_000_000 && !row.workload.starts_with("trace")
    });
    run.latency.retain(|row| row.backend != slow);
    run.memory.retain(|row| row.backend != slow);
    run.failures.retain(|row| row.backend != slow);
    let table = at_a_glance(&run, Some(1_000_000));
    assert!(table.rows.iter().all(|row| row[0].shown != slow));
    let notes = table.notes.join("\n");
    assert!(notes.contains("Left out: skip-list."), "{notes}");
}

#[test]
fn a_million_is_the_default_n_and_traces_are_ignored() {
    let mut run = synthetic::run();
    assert_eq!((default_n(&run), sizes(&run)), (Some(1_000_000), synthetic::SIZES.to_vec()));
    run.throughput.retain(|r| r.n != 1_000_000);
    run.latency.retain(|r| r.n != 1_000_000);
    run.memory.retain(|r| r.n != 1_000_000);
    assert_eq!(default_n(&run), Some(100_000), "183,204 is the n of a trace");
    run.throughput.retain(|r| r.workload.starts_with("trace:"));
    (run.latency, run.memory, run.failures) = (vec![], vec![], vec![]);
    assert_eq!(default_n(&run), Some(183_204));
    assert_eq!(at_a_glance(&run, None).columns.len(), 3);
}

#[test]
fn notes_state_unit_n_repetitions_and_spread() {
    let notes = at_a_glance(&synthetic::run(), None).notes.join("\n");
    for part in [
        "n = 1,000,000, 5 repetitions",
        "Spread (median absolute deviation",
        "Another process can move a figure by more",
        "uniform (insert cold,",
        "183,204 timers",
    ] {
        assert!(notes.contains(part), "{part} is missing in: {notes}");
    }
    let mut single = synthetic::run();
    single.throughput.iter_mut().for_each(|r| r.ns_per_op.truncate(1));
    assert!(at_a_glance(&single, None).notes.join("\n").contains("1 repetitions: too few"));
}

#[test]
fn a_machine_that_disturbed_over_a_fiftieth_of_the_samples_was_busy() {
    for (disturbed, is_busy) in [(0, false), (20, false), (21, true)] {
        let sampling = Sampling { taken: 1_000, disturbed };
        let notes = at_a_glance(&Run { sampling, ..synthetic::run() }, None).notes.join("\n");
        let note = format!("during {disturbed} of 1000 samples");
        assert_eq!(notes.contains(&note), is_busy, "{notes}");
    }
}

#[test]
fn a_percentile_has_thirty_operations_beyond_it() {
    for (count, many, is_known) in [
        (29_999, 1_000, false),
        (30_000, 1_000, true),
        (299_999, 10_000, false),
        (300_000, 10_000, true),
    ] {
        let row = Latency { count, ..synthetic::latency("a", "steady", 1, "tick", 50.0) };
        let value = if many == 1_000 { row.p999 } else { row.p9999 };
        assert_eq!(row.one_in(many), is_known.then_some(value), "{count} operations");
    }
}

#[test]
fn runs_without_figures_give_a_table() {
    let empty = at_a_glance(&synthetic::empty(), None);
    assert!(empty.title.contains("nothing was measured") && empty.rows.is_empty());
    let mut zeros = synthetic::run();
    zeros.throughput.iter_mut().for_each(|r| r.ns_per_op.fill(0.0));
    zeros.throughput[0].ns_per_op.clear();
    for format in [Format::Table, Format::Json] {
        assert!(!at_a_glance(&zeros, None).render(format).is_empty());
    }
}

#[test]
fn full_tables_have_every_row() {
    let run = synthetic::run();
    let tables = times(&run);
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["uniform", "steady", "hold-exponential", "trace:nginx", "trace:kafka"]);
    let uniform = &tables[0].1;
    assert_eq!(uniform.rows.len(), 4 * 5, "including the row with wrong answers");
    assert!(uniform.rows.iter().any(|row| row[2].shown == "WRONG"));
    let latencies: usize = full::latency_tables(&run).iter().map(|t| t.rows.len()).sum();
    assert_eq!(latencies, run.latency.len());
    assert_eq!(full::memory_table(&run).unwrap().rows.len(), run.memory.len());
    assert_eq!(full::memory_table(&synthetic::empty()), None);
}
