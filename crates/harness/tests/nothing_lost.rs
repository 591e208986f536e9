//! If the folder can no longer be written to, the files are lost but not the figures. A run whose
//! time is over skips measurements, and counts as complete.

mod with_callback;

use std::time::Duration;
use wheelhouse_harness::bench::{self, Settings};
use wheelhouse_harness::contender;
use wheelhouse_harness::source::StreamSource;
use with_callback::WithCallback;

#[test]
fn no_figures_are_lost_if_the_folder_disappears() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-lost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Removes the folder of the results as soon as a structure is measured.
    let removed = folder.clone();
    let wrecker = WithCallback::new(move |_| drop(std::fs::remove_dir_all(&removed)));
    let settings = Settings {
        sizes: vec![200],
        contenders: vec![Box::new(wrecker)],
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: None,
        details: false,
    };
    let (run, saved) = bench::run(&settings, &folder).unwrap();
    assert_eq!(run.throughput.len(), 6, "every column was measured");
    assert!(saved.unwrap_err().to_string().contains("cannot"), "the error names the file");
    assert!(bench::run(&settings, &folder).is_err(), "a run that cannot be saved does not begin");
}

#[test]
fn measurements_beyond_the_time_limit_are_skipped() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-limit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let settings = Settings {
        sizes: vec![200],
        contenders: contender::select(&["binary-heap".to_owned()]).unwrap(),
        sources: vec![StreamSource::find("uniform").unwrap()],
        seed: 1,
        seeds: 1,
        time: Duration::ZERO,
        limit: Some(Duration::ZERO),
        details: true,
    };
    let (run, saved) = bench::run(&settings, &folder).unwrap();
    saved.unwrap();
    assert!(run.throughput.is_empty() && !run.interrupted);
    // It decides picks, and takes no time.
    assert!(!run.memory.is_empty(), "a busy machine must not change the picks");
    std::fs::remove_dir_all(folder).unwrap();
}
