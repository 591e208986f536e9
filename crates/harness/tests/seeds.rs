//! With several seeds, each has its share of the rounds.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wheelhouse_core::backend::Info;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::contender::{self, Contender, Played};
use wheelhouse_harness::latency::Times;
use wheelhouse_harness::model::Memory;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::stream::{Solution, Stream};
use wheelhouse_workload::Checksum;

/// Notes the right checksum of each stream that it plays.
struct Noting {
    structure: Box<dyn Contender>,
    played: Rc<RefCell<Vec<Checksum>>>,
}

impl Contender for Noting {
    fn name(&self) -> &'static str {
        self.structure.name()
    }

    fn info(&self) -> Option<Info> {
        self.structure.info()
    }

    fn can_play(&self, stream: &Stream, solution: &Solution) -> bool {
        self.structure.can_play(stream, solution)
    }

    fn play(&self, stream: &Stream, solution: &Solution) -> Played {
        self.played.borrow_mut().push(solution.checksum());
        self.structure.play(stream, solution)
    }

    fn time_each(&self, stream: &Stream, solution: &Solution, into: &mut Times) -> Checksum {
        self.structure.time_each(stream, solution, into)
    }

    fn memory(&self, _: u32, _: u64) -> Option<Memory> {
        None
    }
}

/// The streams that are played with this many seeds, in order, and the number of samples.
fn played(seeds: usize) -> (Vec<Checksum>, u64) {
    let dir = std::env::temp_dir().join(format!("wheelhouse-seeds-{}-{seeds}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let played = Rc::new(RefCell::new(Vec::new()));
    let structure = contender::select(&["binary-heap".to_owned()]).unwrap().remove(0);
    let settings = Settings {
        sizes: vec![200],
        contenders: vec![Box::new(Noting { structure, played: Rc::clone(&played) })],
        sources: vec![Source::find("uniform").unwrap()],
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
