//! A run on disk: one file, from which every table and plot can be made again.
//!
//! `run.json` has the samples, the distributions, the wrong answers and the provenance.
//! `run.json.gz` is the same, compressed for version control. A run takes minutes, so it is saved
//! after each stream. The new file gets a temporary name and is then renamed: an interruption or a
//! full disk leaves the last complete file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wheelhouse_frame::report;
use wheelhouse_present::files::write_whole;

use crate::model::{Footprint, Memory, Run, SCHEMA, Throughput};

/// The name of the file from which [`load`] reads a run.
pub const RUN_FILE: &str = "run.json";

/// The same, compressed for version control.
pub const PACKED_RUN_FILE: &str = "run.json.gz";

/// The remedy in messages about a run that cannot be read.
const REMEDY: &str = "name the folder of a run, which `wheelhouse bench` writes";

/// The file of a run in a folder, compressed or not.
pub fn run_file(dir: &Path) -> Option<PathBuf> {
    [RUN_FILE, PACKED_RUN_FILE].map(|name| dir.join(name)).into_iter().find(|file| file.is_file())
}

/// Writes the run into its folder. May be called repeatedly during the run.
///
/// # Errors
///
/// If a figure is impossible (negative or not finite, which JSON cannot represent), or the file
/// cannot be written. The previous file is then unchanged.
pub fn save(dir: &Path, run: &Run) -> Result<()> {
    check_figures(run)?;
    let json = serde_json::to_vec_pretty(run).context("cannot write the run as JSON")?;
    write_whole(&dir.join(RUN_FILE), &json)
}

/// Reads a run from its folder, or from its `run.json` or `run.json.gz`.
///
/// # Errors
///
/// If there is none, it is damaged, or another version of the harness wrote it. The message says
/// what to do.
pub fn load(path: &Path) -> Result<Run> {
    let file = match path.is_dir() {
        true => run_file(path).unwrap_or_else(|| path.join(RUN_FILE)),
        false => path.to_owned(),
    };
    let run: Run = load_versioned(&file, SCHEMA, "run", REMEDY)?;
    check_figures(&run).with_context(|| damaged(&file, REMEDY))?;
    Ok(run)
}

/// The message about a file that was once complete.
fn damaged(file: &Path, remedy: &str) -> String {
    let shown = file.display();
    format!("{shown} is damaged or truncated; restore it from version control, or {remedy}")
}

/// Reads a JSON file that has its version in the field `schema`. `what` is its content. If there is
/// none, or it is damaged, another file, or of another version, the error has the `remedy`.
pub(crate) fn load_versioned<T: DeserializeOwned>(
    file: &Path,
    version: u32,
    what: &str,
    remedy: &str,
) -> Result<T> {
    let shown = file.display();
    let is_damage = |e: ErrorKind| matches!(e, ErrorKind::InvalidInput | ErrorKind::UnexpectedEof);
    let text = match read(file) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            bail!("there is no {what} at {shown}; {remedy}")
        }
        // The archive is broken.
        Err(e) if is_damage(e.kind()) => return Err(e).with_context(|| damaged(file, remedy)),
        Err(e) => bail!("cannot read {shown} ({e}); {remedy}"),
    };
    // This is another file, such as a page: no copy of it helps.
    ensure!(
        text.trim_ascii_start().first().is_none_or(|first| *first == b'{'),
        "{shown} is not a {what} of wheelhouse; {remedy}"
    );
    let damaged = || damaged(file, remedy);
    let Version { schema } = serde_json::from_slice(&text).with_context(damaged)?;
    match schema {
        Some(known) if known == version => serde_json::from_slice(&text).with_context(damaged),
        Some(other) => bail!(
            "{shown} has layout {other} and this program reads layout {version}; use the version \
             of wheelhouse that wrote it, or {remedy}"
        ),
        None => bail!("{shown} is JSON but not a {what} of wheelhouse; {remedy}"),
    }
}

/// The SHA-256 of the uncompressed `run.json` in a folder; `None` if there is none.
///
/// # Errors
///
/// If it cannot be read.
pub fn digest(dir: &Path) -> Result<Option<String>> {
    let Some(file) = run_file(dir) else { return Ok(None) };
    let text = read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(Some(report::digest(text)))
}

/// The content of a file, decompressed if necessary.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    if file.extension().is_some_and(|extension| extension == "gz") {
        let mut text = Vec::new();
        GzDecoder::new(File::open(file)?).read_to_end(&mut text)?;
        return Ok(text);
    }
    fs::read(file)
}

/// The version alone, to find out whether the rest can be read.
#[derive(Deserialize)]
struct Version {
    schema: Option<u32>,
}

/// Checks that every figure is finite and not negative.
fn check_figures(run: &Run) -> Result<()> {
    let are_possible = |figures: &[f64]| figures.iter().all(|it| it.is_finite() && *it >= 0.0);
    for row in &run.throughput {
        let Throughput { measure, backend, workload, n, ns_per_op, .. } = row;
        let at = || format!("{measure} of {backend} on {workload} at n = {n}");
        ensure!(!ns_per_op.is_empty(), "{} has no samples", at());
        ensure!(are_possible(ns_per_op), "{} holds a figure that no measurement gives", at());
    }
    for Footprint { backend, workload, peak, .. } in &run.footprints {
        let is_possible = are_possible(&[*peak]);
        ensure!(is_possible, "the memory of {backend} on {workload} is no measurement");
    }
    for Memory { backend, n, live, peak, churned } in &run.memory {
        let are_possible = are_possible(&[*live, *peak, *churned]);
        ensure!(are_possible, "memory of {backend} at n = {n} is no measurement");
    }
    let overhead = run.provenance.clock_overhead_ns;
    ensure!(are_possible(&[overhead]), "the overhead of the clock is no time");
    Ok(())
}
