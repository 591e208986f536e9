use wheelhouse_harness::model::{Census, Failure, Run, Steps, Throughput};
use wheelhouse_harness::report::picks::{Candidate, Pick, answer, picks, table};

use crate::synthetic;

const MIX: &str = "mix:start:45,stop:40,move:10,fire:5";

/// A run of a mix with 200,000 timers. Each structure has these nanoseconds, round by round.
fn run(of: &[(&str, &[f64])]) -> Run {
    let mut run = synthetic::empty();
    for &(name, samples) in of {
        let ns_per_op = samples.to_vec();
        let row = Throughput { ns_per_op, ..even(name, MIX, 200_000, "mix", 1.0) };
        run.throughput.push(row);
    }
    // 200,000 calls, as many as operations.
    let (workload, n, starts) = (MIX.to_owned(), 200_000, 100_000);
    let (cancels, moves, fires) = (80_000, 10_000, 10_000);
    run.census = vec![Census { workload, n, starts, cancels, moves, fires, ..Census::default() }];
    run
}

/// A row whose samples are all equal.
fn even(name: &str, workload: &str, n: u64, measure: &str, ns: f64) -> Throughput {
    let ns_per_op = vec![ns; 5];
    Throughput { ns_per_op, ..synthetic::throughput(name, workload, n, measure, ns) }
}

/// Adds the steps of the longest tick of each structure.
fn add_steps(run: &mut Run, n: u64, of: [(&str, u64); 2]) {
    for (backend, longest) in of {
        run.steps.push(Steps {
            backend: backend.to_owned(),
            workload: "uniform".to_owned(),
            n,
            operation: "tick".to_owned(),
            longest,
        });
    }
}

fn names(of: &[Candidate]) -> Vec<&str> {
    of.iter().map(|it| it.name.as_str()).collect()
}

/// The structure of the first pick, and its ties.
fn first(run: &Run) -> (String, Vec<String>) {
    let Pick { pick, ties, .. } = picks(run).swap_remove(0);
    (pick.name, ties.into_iter().map(|it| it.name).collect())
}

#[test]
fn the_answer_names_the_number_of_timers_the_use_and_the_structure() {
    let run = run(&[("a", &[13.0; 3]), ("b", &[20.0; 3]), ("floor", &[1.0; 3])]);
    let expected = "Use a. It is the best, or as good as the best, for 1 of 1 uses: your mix, \
                    90 % cancels or moves (13.0 ns). A use has 200,000 timers unless it names \
                    another number.";
    assert_eq!(answer(&run), [expected], "a use without figures has no line");
    assert_eq!(names(&picks(&run)[0].others), ["b"]);
}

#[test]
fn the_first_structure_that_is_not_behind_is_picked() {
    let check = |case, [a, b, c]: [Vec<f64>; 3], pick: &str, ties: &[&str]| {
        let found = first(&run(&[("a", &a), ("b", &b), ("c", &c)]));
        let ties = ties.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(found, (pick.to_owned(), ties), "{case}");
    };
    let steady = |ns: f64| vec![ns; 9];
    let slow_round = |ns: f64| vec![ns, ns, 3.0 * ns, ns, ns];
    // In one round of nine, the scheduler takes the processor away.
    let stalled = || [vec![10.0; 4], vec![4_000.0], vec![10.0; 4]].concat();
    check("within a fifth is a tie", [11.9, 10.0, 12.1].map(steady), "a", &["b"]);
    let some = vec![10.0, 30.0, 11.0];
    check("behind in some rounds only is a tie", [some, vec![10.0; 3], vec![15.0; 3]], "a", &["b"]);
    check("a round is slow for all", [13.0, 10.0, 10.5].map(slow_round), "b", &["c"]);
    check("the faster one stalls", [steady(13.0), stalled(), steady(30.0)], "b", &[]);
    check("the first one stalls", [stalled(), steady(13.0), steady(30.0)], "a", &[]);
    let two = [13.0, 10.0, 13.0].map(|ns| vec![ns; 2]);
    check("with two samples, the medians decide", two, "b", &[]);
}

#[test]
fn a_structure_that_is_not_recommended_is_never_picked() {
    let run = run(&[("sorted-slice", &[5.0; 3]), ("binary-heap", &[10.0; 3])]);
    assert_eq!(first(&run), ("binary-heap".to_owned(), vec![]));
}

#[test]
fn a_structure_that_answered_wrongly_is_never_picked() {
    let mut run = run(&[("binary-heap", &[10.0; 3])]);
    let n = 200_000;
    run.failures.push(Failure {
        backend: "a".to_owned(),
        workload: "uniform".to_owned(),
        n,
        message: "a wrong checksum".to_owned(),
    });
    add_steps(&mut run, n, [("a", 40), ("binary-heap", 1_300)]);
    run.memory = vec![synthetic::memory("a", n, 40.0), synthetic::memory("binary-heap", n, 1e3)];
    let picks = picks(&run);
    assert_eq!(picks.len(), 3, "the mix, the longest call, and memory");
    assert!(picks.iter().all(|it| it.pick.name == "binary-heap" && it.others.is_empty()));
}

#[test]
fn only_rounds_that_both_took_part_in_are_compared() {
    let mut run = run(&[("a", &[13.0, 13.0, 13.0]), ("b", &[90.0, 10.0, 10.0, 10.0])]);
    run.throughput[0].rounds = vec![1, 2, 3];
    run.throughput[1].rounds = vec![0, 1, 2, 3];
    assert_eq!(first(&run), ("b".to_owned(), vec![]));
}

/// A skip list fires fast and inserts slowly. The life of a timer includes both.
#[test]
fn if_all_timers_fire_their_insertion_counts_too() {
    let mut run = synthetic::empty();
    for (name, insert, fire) in [("skip-list", 100.0, 20.0), ("binary-heap", 15.0, 60.0)] {
        for (measure, ns) in [("insert-warm", insert), ("fire-ticks", fire)] {
            run.throughput.push(even(name, "uniform", 100_000, measure, ns));
        }
    }
    let pick = picks(&run).swap_remove(0);
    assert_eq!((pick.pick.name.as_str(), pick.pick.figure), ("binary-heap", 37.5));
    assert_eq!(names(&pick.others), ["skip-list"]);
}

#[test]
fn steps_decide_the_longest_call_and_an_exception_states_its_price() {
    let mut run = run(&[("a", &[10.0; 3]), ("b", &[24.0; 3])]);
    add_steps(&mut run, 200_000, [("a", 1_300), ("b", 40)]);
    let expected = "fewest steps in the longest call (growing arrays not counted): b, 40 steps \
                    instead of 1,300 steps. Its price: with 200,000 timers, \"your mix\" takes 2.4 \
                    times as long.";
    assert_eq!(answer(&run)[1..], [expected]);
    run.throughput[1].ns_per_op = vec![10.4; 3];
    let expected = "fewest steps in the longest call (growing arrays not counted): b, 40 steps \
                    instead of 1,300 steps. It is no slower in any other use.";
    assert_eq!(answer(&run)[1..], [expected]);
    run.steps[0].longest = 79;
    assert_eq!(answer(&run).len(), 1, "within a factor of two is a tie");
}

#[test]
fn a_structure_that_is_a_tie_is_as_good_as_the_best() {
    let mut run = run(&[("a", &[10.0; 3]), ("b", &[10.4; 3])]);
    add_steps(&mut run, 200_000, [("a", 1_300), ("b", 40)]);
    run.memory = vec![synthetic::memory("a", 200_000, 60.0), synthetic::memory("b", 200_000, 20.0)];
    let answer = answer(&run);
    assert_eq!(answer.len(), 1, "b is as good as the best for all uses: {answer:?}");
    let first = "Use b. It is the best, or as good as the best, for 3 of 3 uses: your mix, 90 % \
                 cancels or moves (10.4 ns); ";
    assert!(answer[0].starts_with(first), "{answer:?}");
}

#[test]
fn a_stream_of_the_user_with_another_number_of_timers_names_it() {
    let mut run = run(&[("a", &[10.0; 3]), ("b", &[30.0; 3])]);
    run.throughput.push(even("a", "steady", 1_000_000, "steady", 40.0));
    add_steps(&mut run, 1_000_000, [("a", 1_300), ("b", 40)]);
    let first = "Use a. It is the best, or as good as the best, for 1 of 2 uses: 200,000 timers, \
                 your mix, 90 % cancels or moves (10.0 ns). A use has 1,000,000 timers unless it \
                 names another number.";
    let second = "fewest steps in the longest call (growing arrays not counted): b, 40 steps \
                  instead of 1,300 steps. Its price: \"200,000 timers, your mix\" takes 3.0 \
                  times as long.";
    assert_eq!(answer(&run), [first, second]);
}

#[test]
fn a_structure_without_another_is_not_called_the_best() {
    let mut run = run(&[("a", &[13.0; 3]), ("floor", &[1.0; 3])]);
    run.memory = vec![synthetic::memory("a", 200_000, 60.0)];
    assert_eq!(answer(&run), Vec::<String>::new());
    let only = "only a was measured or can be recommended (13.0 ns).";
    assert_eq!(picks(&run)[0].sentence(), only);
}

#[test]
fn the_notes_say_what_decides_a_tie() {
    let notes = table(&run(&[("a", &[10.0; 3]), ("b", &[30.0; 3])])).notes.join("\n");
    for part in ["With five rounds or fewer", "one round of three", "Growing arrays is not counted"]
    {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn an_interrupted_run_has_no_answer() {
    let mut run = run(&[("a", &[13.0; 3])]);
    run.interrupted = true;
    assert_eq!(answer(&run), Vec::<String>::new());
}

#[test]
fn a_pick_was_measured_at_the_default_n() {
    let mut run = synthetic::run();
    for (n, expected) in [(1_000, "hierarchical-wheel"), (1_000_000, "fast-when-few")] {
        run.throughput.push(even("fast-when-few", "steady", n, "steady", 0.1));
        let pick = picks(&run).into_iter().find(|pick| pick.what.contains("steady")).unwrap();
        assert_eq!(pick.pick.name, expected, "the answer is for a million timers");
    }
}

#[test]
fn few_timers_have_a_separate_pick() {
    let mut run = synthetic::empty();
    for (name, few, many) in [("hierarchical-wheel", 30.0, 40.0), ("binary-heap", 20.0, 90.0)] {
        for (n, ns) in [(10, few), (1_000_000, many)] {
            run.throughput.push(even(name, "steady", n, "steady", ns));
        }
    }
    // As many calls as operations.
    let starts = run.throughput[0].operations;
    for n in [10, 1_000_000] {
        let workload = "steady".to_owned();
        run.census.push(Census { workload, n, starts, ..Census::default() });
    }
    let lines = answer(&run);
    assert!(lines[0].starts_with("Use hierarchical-wheel. It is"), "{lines:?}");
    assert!(lines[0].ends_with(" A use has 1,000,000 timers unless it names another number."));
    let few = "steady churn with 10 timers: binary-heap, 20.0 ns instead of 30.0 ns.";
    assert!(lines[1].starts_with(few), "{lines:?}");
    run.throughput.retain(|row| row.n != 10);
    assert_eq!(answer(&run).len(), 1);
}

#[test]
fn a_structure_without_all_workloads_of_a_use_is_left_out() {
    let mut run = synthetic::run();
    let rows = [("round-wheel", "tcp", 10.0), ("binary-heap", "tcp", 20.0)];
    let others = ["often-moved", "mostly-answered"].map(|it| ("binary-heap", it, 9.0));
    for (name, workload, ns) in rows.into_iter().chain(others) {
        run.throughput.push(synthetic::throughput(name, workload, 1_000_000, "mix", ns));
    }
    for workload in ["tcp", "often-moved", "mostly-answered"].map(str::to_owned) {
        let (n, starts) = (1_000_000, 1_000_000);
        run.census.push(Census { workload, n, starts, ..Census::default() });
    }
    let all = picks(&run);
    let pick = all.iter().find(|pick| pick.what.contains("connections")).unwrap();
    assert_eq!((pick.pick.name.as_str(), pick.ties.len()), ("binary-heap", 0));
}
