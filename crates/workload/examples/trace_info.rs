//! Reads a trace to its end and prints a summary.
//!
//! usage: trace_info FILE...

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wheelhouse_workload::trace::{Reader, TraceError};

fn main() -> ExitCode {
    let mut result = ExitCode::SUCCESS;
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: trace_info FILE...");
        return ExitCode::FAILURE;
    }
    for file in files {
        if let Err(error) = describe(&file) {
            eprintln!("{}: {error}", file.display());
            result = ExitCode::FAILURE;
        }
    }
    result
}

fn describe(file: &Path) -> Result<(), TraceError> {
    let mut reader = Reader::new(File::open(file)?)?;
    for op in reader.by_ref() {
        op?;
    }
    let header = reader.header();
    println!("{}: {}", file.display(), header.name);
    println!("  operations  {}", header.operations);
    println!("  labels      {}", header.labels);
    println!("  tick        {} ns", header.tick_ns);
    if let Some(totals) = reader.totals() {
        println!("  contents    {totals}");
    }
    println!("  provenance  {}", header.provenance.trim_end());
    Ok(())
}
