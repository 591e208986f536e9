//! A folder that can no longer be written to costs the files, and not the figures; a run without
//! time has none, and is whole.

use std::path::PathBuf;
use std::time::Duration;
use wheelhouse_core::backend::Info;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::contender::{self, Contender, Played};
use wheelhouse_harness::latency::Times;
use wheelhouse_harness::model::Memory;
use wheelhouse_harness::source::Source;
use wheelhouse_harness::stream::{Solution, Stream};
use wheelhouse_workload::Checksum;

/// A structure that takes the folder of the results away as soon as it is measured.
struct Wrecker {
    structure: Box<dyn Contender>,
    folder: PathBuf,
}

impl Contender for Wrecker {
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
        let _ = std::fs::remove_dir_all(&self.folder);
        self.structure.play(stream, solution)
    }

    fn time_each(&self, stream: &Stream, solution: &Solution, into: &mut Times) -> Checksum {
        self.structure.time_each(stream, solution, into)
    }

    fn memory(&self, n: u32, seed: u64) -> Option<Memory> {
        self.structure.memory(n, seed)
    }
}

#[test]
fn a_folder_that_fills_up_or_goes_away_costs_no_figures() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-lost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let structure = contender::select(&["binary-heap".to_owned()]).unwrap().remove(0);
    let settings = Settings {
        sizes: vec![200],
        contenders: vec![Box::new(Wrecker { structure, folder: folder.clone() })],
        sources: vec![Source::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: None,
        details: false,
    };
    let (run, kept) = bench::run(&settings, &folder).unwrap();
    assert_eq!(run.throughput.len(), 6, "every column was measured");
    assert!(kept.unwrap_err().to_string().contains("cannot"), "and it is said what was not kept");
    assert!(bench::run(&settings, &folder).is_err(), "what cannot be kept is not begun");
}

#[test]
fn what_has_no_time_is_left_out_and_the_run_is_whole() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-limit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let settings = Settings {
        sizes: vec![200],
        contenders: contender::select(&["binary-heap".to_owned()]).unwrap(),
        sources: vec![Source::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: Some(Duration::ZERO),
        details: true,
    };
    let (run, kept) = bench::run(&settings, &folder).unwrap();
    kept.unwrap();
    assert!(run.throughput.is_empty() && run.memory.is_empty() && !run.interrupted);
    std::fs::remove_dir_all(folder).unwrap();
}
