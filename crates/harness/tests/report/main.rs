//! The report of a run: files, tables, pictures, pages.

mod browser;
mod compare;
mod explore;
mod pages;
mod picks;
mod pictures;
mod store;
mod synthetic;
mod tables;

use std::fs;
use std::path::PathBuf;

/// A new empty folder for one test, in Cargo's folder for temporary files of tests.
fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("report-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("the scratch folder can be made");
    dir
}
