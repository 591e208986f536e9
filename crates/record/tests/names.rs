//! A trace in a file: its name, and the file that was there before.

mod common;

use common::{read, recorded};
use std::fs;
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::Recorder;

#[test]
fn a_trace_has_the_name_of_its_file_and_overwrites_an_earlier_one() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-names-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("sessions.trace");
    // Longer than the trace: a rest of it would be noticed.
    fs::write(&path, [b'x'; 10_000]).expect("the folder can be written");
    let mut timer = Recorder::create(&path, HierarchicalWheel::new()).expect("it can be written");
    timer.insert(30_000, 1);
    let summary = timer.finish().expect("it can be written");
    let bytes = fs::read(&path).expect("it was made");
    fs::remove_dir_all(&folder).expect("it is ours");

    let (header, ops) = read(&bytes);
    assert_eq!(header.name, "sessions");
    assert_eq!(summary.bytes, bytes.len() as u64, "nothing is left of the earlier file");
    assert_eq!(ops, read(&recorded(|timer| _ = timer.insert(30_000, 1))).1);
}
