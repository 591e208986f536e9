use wheelhouse_harness::model::Run;
use wheelhouse_harness::report::picks::picks;

use crate::synthetic;

/// The pick for the use whose text has this in it, as (text, pick).
fn pick(run: &Run, part: &str) -> (String, String) {
    let table = picks(run);
    let row = table.rows.iter().find(|row| row[0].shown.contains(part)).unwrap();
    (row[0].shown.clone(), row[1].shown.clone())
}

#[test]
fn few_timers_are_decided_by_all_operations_together() {
    let mut run = synthetic::run();
    let rows =
        run.throughput.iter_mut().filter(|row| row.backend == "binary-heap" && row.n == 1_000);
    rows.filter(|row| row.workload == "steady").for_each(|row| row.ns_per_op.fill(45.0));
    let (text, best) = pick(&run, "Few timers");
    assert_eq!(
        best, "round-wheel",
        "the heap is best in one column, the round wheel in the five others"
    );
    assert!(
        text.contains(
            "mean of insert warm, cancel, reschedule, fire ticks, steady and hold (n = 1,000)"
        ),
        "{text}"
    );
    run.throughput.retain(|row| !(row.backend == "round-wheel" && row.measure == "hold"));
    assert_eq!(pick(&run, "Few timers").1, "hierarchical-wheel", "who lacks a column is left out");
}

#[test]
fn the_longest_call_is_that_of_a_workload_that_is_named() {
    let mut run = synthetic::run();
    run.latency.push(synthetic::latency("binary-heap", "uniform", 1_000_000, "tick", 50.0));
    let (text, best) = pick(&run, "No call may stall");
    assert!(text.contains("workload uniform") && best == "binary-heap", "{text}: {best}");
}
