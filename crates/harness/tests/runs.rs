//! Whole runs: with several seeds, with many timers, over the time limit, and without a folder for
//! the results.

mod common;

use common::{WithCallback, heap, settings};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tempfile::tempdir;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::model::{Run, Throughput};
use wheelhouse_harness::options::{self, Options, Roster};
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::{structure, verify};
use wheelhouse_machine::clock::WorkTime;
use wheelhouse_workload::Checksum;

/// A run in a new folder.
fn run(settings: &Settings) -> Run {
    let (run, saved) = bench::run(settings, tempdir().unwrap().path()).unwrap();
    saved.unwrap();
    run
}

#[test]
fn no_figures_are_lost_if_the_folder_disappears() {
    let folder = tempdir().unwrap();
    let removed = folder.path().to_owned();
    let settings = settings(WithCallback::alone(move |_| drop(std::fs::remove_dir_all(&removed))));
    let (run, saved) = bench::run(&settings, folder.path()).unwrap();
    assert_eq!(run.throughput.len(), 6, "every column was measured");
    assert!(saved.unwrap_err().to_string().contains("cannot"), "the error names the file");
    assert!(
        bench::run(&settings, folder.path()).is_err(),
        "a run that cannot be saved does not begin"
    );
}

#[test]
fn measurements_beyond_the_time_limit_are_skipped() {
    let run = run(&Settings { limit: Some(Duration::ZERO), details: true, ..settings(heap()) });
    assert!(run.throughput.is_empty() && !run.interrupted);
    // It decides picks, and takes no time.
    assert!(!run.memory.is_empty(), "a busy machine must not change the picks");
}

#[test]
fn a_sample_has_only_the_plays_that_fit_the_time() {
    let plays = Rc::new(Cell::new(0));
    let counted = Rc::clone(&plays);
    let counting = WithCallback::alone(move |_| counted.set(counted.get() + 1));
    run(&Settings { details: true, ..settings(counting) });
    assert_eq!(plays.get(), 4, "to verify, and without time one play in each of three rounds");
}

/// The streams that are played with this many seeds, in order, and the number of samples.
fn played(seeds: usize) -> (Vec<Checksum>, u64) {
    let played = Rc::new(RefCell::new(Vec::new()));
    let checksums = Rc::clone(&played);
    let recording = WithCallback::alone(move |expected| {
        checksums.borrow_mut().push(expected.checksum());
    });
    let run = run(&Settings { seeds, ..settings(recording) });
    assert!(run.failures.is_empty(), "{:?}", run.failures);
    let mut streams = played.take();
    streams.dedup();
    (streams, run.sampling.taken)
}

#[test]
fn each_seed_has_its_share_of_the_rounds() {
    let (one, samples) = played(1);
    assert_eq!((one.len(), samples), (1, 1));
    let (four, samples) = played(4);
    assert_eq!((four.len(), samples), (4, 4));
    assert_eq!(four[0], one[0], "the first is --seed");
}

/// The processor time of a run of this number of seeds, whose time is over after the first stream.
fn time_of(seeds: usize) -> Duration {
    let (sizes, limit) = (vec![50_000], Some(Duration::from_millis(20)));
    let settings = Settings { sizes, seeds, limit, ..settings(heap()) };
    WorkTime::measure(|| run(&settings)).0.running
}

#[test]
fn beyond_the_time_limit_no_stream_of_another_seed_is_made() {
    let [one, many] = [1, 15].map(time_of);
    assert!(many < 5 * one, "{many:?} and {one:?}: one more stream is made, and not 14");
}

#[test]
fn structures_for_which_no_time_is_left_are_not_verified() {
    let limit = Duration::from_secs(1);
    let mut structures = WithCallback::alone(move |_| std::thread::sleep(limit));
    structures.extend(structure::select(&["list-wheel".to_owned()]).unwrap());
    let run = run(&Settings { limit: Some(limit), ..settings(structures) });
    assert_eq!(run.throughput.len(), 6, "the first has a row for each column");
    assert!(run.throughput.iter().all(|row| row.backend == "binary-heap"), "the second has none");
}

#[test]
fn two_structures_with_one_name_are_refused() {
    let all = [heap(), heap()].into_iter().flatten().collect();
    let roster = Roster { all, ..options::workspace_roster(8) };
    let refused = options::settings(&Options::default(), roster, true).err().unwrap();
    assert!(refused.to_string().contains("two structures are called binary-heap"), "{refused}");
}

/// The structures are the binary heap and a wheel that is late by design. Here, none may be late.
#[test]
fn wrong_answers_are_named_and_not_timed() {
    let mut structures = heap();
    structures.extend(structure::approximate());
    let settings = Settings { details: true, ..settings(structures) };
    let verified = verify::verify(&settings.sources, &settings.structures, 200, 1).unwrap();
    let [failure] = &verified.failures[..] else { panic!("{:?}", verified.failures) };
    assert_eq!(failure.backend, "linux-wheel");
    assert!(failure.message.contains("(fire-"), "the phase is named: {}", failure.message);

    let run = run(&settings);
    assert_eq!(run.failures, verified.failures);
    let is_measured = |row: &Throughput| row.ns_per_op.len() >= 3;
    assert!(run.throughput.iter().all(|row| row.backend == "binary-heap" && is_measured(row)));
    assert_eq!(run.throughput.len(), 6);
}

#[test]
fn after_a_wrong_answer_no_figure_remains() {
    let stream = StreamSource::find("uniform").unwrap().load(200, 1).unwrap();
    let trace = StreamSource::File(Stream { name: "trace:mine".to_owned(), ..stream });
    let (heap, before) = (heap().remove(0), |_: &ExpectedAnswers| ());
    let settings = settings(vec![Box::new(WithCallback { heap, before, is_right_at_last: false })]);
    let run = run(&Settings { details: true, sources: vec![trace], ..settings });
    assert_eq!(run.failures.len(), 1);
    assert!(run.throughput.is_empty() && run.latency.is_empty() && run.steps.is_empty());
    assert!(run.footprints.is_empty() && run.memory.is_empty(), "{run:?}");
}

/// With many timers, structures take other paths: above 65,536 live timers, the hierarchical wheel
/// moves a timer differently.
#[test]
fn a_hundred_thousand_timers_get_the_answers_of_the_oracle() {
    const N: u32 = 100_000;
    let sources = ["uniform", "session-ttl", "keepalive", "cancel-storm"]
        .map(|name| StreamSource::find(name).unwrap());
    let structures = structure::all();
    let verified = verify::verify(&sources, &structures, N, 1).unwrap();
    assert!(verified.failures.is_empty(), "{:?}", verified.failures);
    // Structures that pass all timers in some operation are left out.
    let able = structures.iter().filter(|it| it.info().is_none_or(|info| info.max_timers >= N));
    assert_eq!(verified.table.rows.len(), sources.len() * able.count());
}
