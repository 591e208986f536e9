//! Ctrl-C during a sample of many plays.

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::structure::{self, StreamPlay, Structure};
use wheelhouse_machine::interrupt;

/// A binary heap, during whose tenth play the user presses Ctrl-C.
struct Interrupted(Box<dyn Structure>, Rc<Cell<u32>>);

impl Structure for Interrupted {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool {
        self.0.can_play(stream, expected)
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        self.1.set(self.1.get() + 1);
        interrupt::request_for_test(self.1.get() == 10);
        self.0.play(stream, expected)
    }
}

#[test]
fn it_ends_the_run_between_two_plays_of_a_sample() {
    let dir = std::env::temp_dir().join(format!("wheelhouse-ctrl-c-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let plays = Rc::new(Cell::new(0));
    let heap = structure::select(&["binary-heap".to_owned()]).unwrap().remove(0);
    let structures: Vec<Box<dyn Structure>> = vec![Box::new(Interrupted(heap, Rc::clone(&plays)))];
    let time = Duration::from_secs(10);
    let settings = Settings { time, details: true, ..common::settings(structures) };
    let (run, _) = bench::run(&settings, &dir).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(run.interrupted && run.throughput.is_empty());
    assert_eq!(plays.get(), 10);
}
