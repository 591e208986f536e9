use wheelhouse_harness::model::{Census, Latency, Run};
use wheelhouse_harness::report::picks::{Pick, answer, picks};

use crate::synthetic;

/// A run of a mix at 200,000 timers: (structure, nanoseconds, tail).
fn run(of: &[(&str, f64, u64)]) -> Run {
    let mut run = synthetic::empty();
    let mix = "mix:start:45,stop:40,move:10,fire:5";
    for &(name, ns, tail) in of {
        let mut row = synthetic::throughput(name, mix, 200_000, "mix", ns, 0);
        row.ns_per_op.fill(ns);
        run.throughput.push(row);
        let timed = synthetic::latency(name, mix, 200_000, "advance", ns);
        run.latency.push(Latency { p9999: tail, ..timed });
    }
    let (workload, n) = (mix.to_owned(), 200_000);
    run.census =
        vec![Census { workload, n, cancels: 80, moves: 10, fires: 10, ..Census::default() }];
    run
}

fn names(of: &[wheelhouse_harness::report::picks::Candidate]) -> Vec<&str> {
    of.iter().map(|it| it.name.as_str()).collect()
}

fn first(run: &Run) -> Pick {
    picks(run).swap_remove(0)
}

#[test]
fn the_answer_says_how_many_timers_what_happens_to_them_and_whom_to_take() {
    let run = run(&[("a", 13.0, 900), ("b", 20.0, 900), ("floor", 1.0, 1)]);
    let expected = "200,000 timers, 90 % cancelled or moved: take a (13.0 ns).";
    assert_eq!(answer(&run), [expected], "what was not measured has no line");
    assert_eq!(first(&run).next.map(|next| next.name).as_deref(), Some("b"));
}

#[test]
fn who_is_within_a_tenth_or_within_the_spread_is_a_tie() {
    let mut run = run(&[("a", 10.0, 900), ("b", 10.9, 900), ("c", 12.0, 900), ("d", 13.0, 900)]);
    assert_eq!(names(&first(&run).ties), ["b"]);
    // Deviations of a quarter: 10 and 12 can no longer be told apart.
    run.throughput[2].ns_per_op = vec![9.0, 9.0, 12.0, 15.0, 15.0];
    assert_eq!(names(&first(&run).ties), ["b", "c"]);
    assert!(answer(&run)[0].ends_with("take a (10.0 ns). b, c are ties."), "{:?}", answer(&run));
}

#[test]
fn of_ties_the_one_without_a_tail_is_taken_and_the_tail_is_said() {
    let run = run(&[("a", 10.0, 4_000_000), ("b", 10.5, 9_000), ("c", 30.0, 8_000)]);
    let pick = first(&run);
    assert_eq!((pick.pick.name.as_str(), names(&pick.ties)), ("b", vec!["a"]));
    let said = &answer(&run)[0];
    assert!(
        said.contains("a is a tie but for its tail: one call in thousands takes 4.00 ms"),
        "{said}"
    );
}

#[test]
fn a_pick_with_a_tail_is_not_made_without_saying_it() {
    let run = run(&[("a", 10.0, 4_000_000), ("c", 30.0, 8_000)]);
    let said = &answer(&run)[0];
    let expected =
        "take a (10.0 ns). But one call in thousands takes 4.00 ms, with c (30.0 ns) 8.00 µs.";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn a_tie_is_held_against_the_least_tail_of_all_and_not_against_that_of_the_pick() {
    let run = run(&[("a", 10.0, 400_000), ("b", 10.5, 766_000), ("c", 30.0, 56_000)]);
    assert_eq!(first(&run).pick.name, "a");
    let said = &answer(&run)[0];
    assert!(
        said.ends_with("b is a tie but for its tail: one call in thousands takes 766 µs."),
        "{said}"
    );
}

#[test]
fn a_tail_of_too_few_calls_or_of_the_machine_is_none() {
    let of = [("a", 10.0, 4_000_000), ("c", 30.0, 8_000), ("floor", 1.0, 500_000)];
    let says_nothing = |run: &Run| answer(run)[0].ends_with("take a (10.0 ns).");
    assert!(says_nothing(&run(&of)), "the floor has half a millisecond too");
    let mut few = run(&of[..2]);
    assert!(!says_nothing(&few));
    few.latency.iter_mut().for_each(|row| row.count = 9_999);
    assert!(says_nothing(&few), "one of 9,999 calls is no percentile");
    few.latency[0].p999 = 3_000_000;
    assert!(!says_nothing(&few), "ten of them are");
}

#[test]
fn the_calmest_is_not_one_whose_longest_call_stalls() {
    let mut run = synthetic::empty();
    for (name, percentile, longest) in [("lazy", 31_000, 7_000_000), ("calm", 37_000, 140_000)] {
        let row = synthetic::latency(name, "uniform", 1_000_000, "cancel", 50.0);
        run.latency.push(Latency { p9999: percentile, worst: longest, ..row });
    }
    let expected =
        "take calm (37.0 µs). lazy is a tie but for its tail: the longest call took 7.00 ms.";
    assert!(answer(&run)[0].ends_with(expected), "{:?}", answer(&run));
}

#[test]
fn of_ties_that_all_have_a_tail_the_least_is_taken() {
    let run = run(&[("a", 10.0, 4_000_000), ("b", 10.5, 900_000), ("c", 30.0, 8_000)]);
    assert_eq!(first(&run).pick.name, "b");
    let said = &answer(&run)[0];
    for part in [
        "take b",
        "a is a tie but for its tail: one call in thousands takes 4.00 ms",
        "with c (30.0 ns)",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn only_who_was_measured_at_that_number_is_picked() {
    let mut run = synthetic::run();
    let fast = |run: &mut Run, n| {
        let mut row = synthetic::throughput("fast-when-few", "steady", n, "steady", 0.1, 0);
        row.ns_per_op.fill(0.1);
        run.throughput.push(row);
    };
    let steady = |run: &Run| {
        let all = picks(run);
        all.into_iter().find(|pick| pick.what.contains("steady")).unwrap().pick.name
    };
    fast(&mut run, 1_000);
    assert_eq!(steady(&run), "hierarchical-wheel", "the answer is about a million");
    fast(&mut run, 1_000_000);
    assert_eq!(steady(&run), "fast-when-few");
}

#[test]
fn who_lacks_a_part_of_what_decides_is_left_out() {
    let mut run = synthetic::run();
    for (name, ns) in [("round-wheel", 10.0), ("binary-heap", 20.0)] {
        run.throughput.push(synthetic::throughput(name, "tcp", 1_000_000, "mix", ns, 0));
    }
    run.throughput.push(synthetic::throughput(
        "binary-heap",
        "keepalive",
        1_000_000,
        "mix",
        9.0,
        0,
    ));
    let all = picks(&run);
    let pick = all.iter().find(|pick| pick.what.contains("connections")).unwrap();
    assert_eq!((pick.pick.name.as_str(), pick.ties.len()), ("binary-heap", 0));
}
