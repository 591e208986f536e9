//! Reads a trace to its end and prints a summary.
//!
//! usage: trace_info FILE...

use std::fs::File;
use std::process::ExitCode;
use wheelhouse_workload::trace::{Reader, TraceError};

fn main() -> ExitCode {
    let mut result = ExitCode::SUCCESS;
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: trace_info FILE...");
        return ExitCode::FAILURE;
    }
    for file in files {
        if let Err(error) = describe(&file) {
            eprintln!("{file}: {error}");
            result = ExitCode::FAILURE;
        }
    }
    result
}

fn describe(file: &str) -> Result<(), TraceError> {
    let mut reader = Reader::new(File::open(file)?)?;
    for op in reader.by_ref() {
        op?;
    }
    let header = reader.header();
    println!("{file}: {}", header.name);
    println!("  operations  {}", header.operations);
    println!("  labels      {}", header.labels);
    println!("  tick        {} ns", header.tick_ns);
    if let Some(totals) = reader.totals() {
        println!("  contents    {totals}");
    }
    println!("  provenance  {}", header.provenance.trim_end());
    Ok(())
}
