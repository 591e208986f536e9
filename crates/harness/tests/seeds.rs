//! With several seeds, each gets its share of the rounds.

mod with_callback;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::source::StreamSource;
use wheelhouse_workload::Checksum;
use with_callback::WithCallback;

/// The streams that were played with this many seeds, in order, and the number of samples.
fn played(seeds: usize) -> (Vec<Checksum>, u64) {
    let dir = std::env::temp_dir().join(format!("wheelhouse-seeds-{}-{seeds}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let played = Rc::new(RefCell::new(Vec::new()));
    let checksums = Rc::clone(&played);
    let recording =
        WithCallback::new(move |expected| checksums.borrow_mut().push(expected.checksum()));
    let settings = Settings {
        sizes: vec![200],
        contenders: vec![Box::new(recording)],
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds,
        time: Duration::ZERO,
        limit: None,
        details: false,
    };
    let (run, _) = bench::run(&settings, &dir).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
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
