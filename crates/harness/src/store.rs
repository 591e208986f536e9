//! Where results lie on disk: one folder per run, never written over.
//!
//! ```text
//! results/2026-11-21-xeon-2c-02ff5b6a/
//!   run.json         the whole run, from which every table and plot can be made again;
//!                    run.json.gz where it is kept
//!   throughput.csv   one line per sample
//!   latency.csv      one line per distribution (the curves are in run.json)
//!   memory.csv       one line per (backend, n)
//!   footprint.csv    one line per (backend, trace of somebody's own)
//!   failures.csv     one line per wrong answer
//!   provenance.txt   machine, compiler, commit, command
//! ```
//!
//! A run that goes on for minutes is saved again after each step. Each file is written beside its
//! old version and then renamed over it, so that an interruption or a full disk leaves the last
//! whole one.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use wheelhouse_present::files::write_whole;

use crate::model::{Run, SCHEMA};
use wheelhouse_machine::provenance::{self, Provenance};

/// The name of the file from which [`load`] reads a run.
pub const RUN_FILE: &str = "run.json";

/// The same, packed, as it is kept in version control.
pub const PACKED: &str = "run.json.gz";

/// The file of a run in a folder, packed or not.
pub fn run_file(dir: &Path) -> Option<PathBuf> {
    [RUN_FILE, PACKED].map(|name| dir.join(name)).into_iter().find(|file| file.is_file())
}

/// Makes a new folder for a run in `parent`: `<date>-<host>-<commit>`, with `-2`, `-3`, ... behind
/// it if it was there.
///
/// # Errors
///
/// If the folder cannot be made.
pub fn create(parent: &Path, provenance: &Provenance) -> Result<PathBuf> {
    fs::create_dir_all(parent).with_context(|| {
        format!("cannot make the folder {}; name a writable one with --out", parent.display())
    })?;
    let name = folder_name(provenance);
    for attempt in 1..=9999 {
        let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let dir = parent.join(format!("{name}{suffix}"));
        // `create_dir` fails on what exists, so that two runs started at once get two folders.
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => {
                let message = format!(
                    "cannot make the folder {}; name a writable one with --out",
                    dir.display()
                );
                return Err(anyhow::Error::new(e).context(message));
            }
        }
    }
    bail!(
        "{} holds 9999 folders {name}-..; remove some, or name another with --out",
        parent.display()
    )
}

/// Writes the run into its folder. May be called again and again while the run goes on.
///
/// # Errors
///
/// If a figure is not a number (it would not survive the way through JSON), or a file cannot be
/// written; the file of that name that was there before is then still whole.
pub fn save(dir: &Path, run: &Run) -> Result<()> {
    check_figures(run)?;
    let json = serde_json::to_vec_pretty(run).context("cannot write the run as JSON")?;
    write_whole(&dir.join(RUN_FILE), &json)?;
    write_whole(&dir.join("throughput.csv"), &throughput_csv(run)?)?;
    write_whole(&dir.join("latency.csv"), &latency_csv(run)?)?;
    write_whole(&dir.join("memory.csv"), &memory_csv(run)?)?;
    write_whole(&dir.join("footprint.csv"), &footprint_csv(run)?)?;
    write_whole(&dir.join("failures.csv"), &failures_csv(run)?)?;
    write_whole(&dir.join("provenance.txt"), provenance_text(run).as_bytes())
}

/// Reads a run from its folder, or from its `run.json` or `run.json.gz`.
///
/// # Errors
///
/// If there is none, it is damaged, or it was written by another version of the harness; the
/// message says what to do.
pub fn load(path: &Path) -> Result<Run> {
    let file = match path.is_dir() {
        true => run_file(path).unwrap_or_else(|| path.join(RUN_FILE)),
        false => path.to_owned(),
    };
    let shown = file.display();
    let text = match read(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            bail!(
                "there is no run at {shown}; name a folder that holds a {RUN_FILE}, as `wheelhouse \
                 bench` leaves behind"
            )
        }
        Err(e) => bail!(
            "cannot read {shown} ({e}); name the folder of a run, as `wheelhouse bench` leaves \
             behind"
        ),
    };
    let damaged = || {
        format!(
            "{shown} is damaged or cut short; take it from version control again, or repeat the run"
        )
    };
    let version: Version = serde_json::from_str(&text).with_context(damaged)?;
    match version.schema {
        Some(SCHEMA) => {
            let run: Run = serde_json::from_str(&text).with_context(damaged)?;
            check_figures(&run).with_context(damaged)?;
            Ok(run)
        }
        Some(other) => bail!(
            "{shown} has layout {other} and this program reads layout {SCHEMA}; \
             use the version of wheelhouse that wrote it, or repeat the run"
        ),
        None => bail!(
            "{shown} is JSON but not a run of wheelhouse; name a folder that holds a {RUN_FILE}"
        ),
    }
}

/// The SHA-256 of the `run.json` in a folder, as it is before it is packed; `None` if there is
/// none.
///
/// # Errors
///
/// If it cannot be read.
pub fn digest(dir: &Path) -> Result<Option<String>> {
    let Some(file) = run_file(dir) else { return Ok(None) };
    let text = read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let bytes = Sha256::digest(text.as_bytes());
    Ok(Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// The text of a file, unpacked if it is packed.
fn read(file: &Path) -> std::io::Result<String> {
    if file.extension().is_some_and(|extension| extension == "gz") {
        let mut text = String::new();
        GzDecoder::new(File::open(file)?).read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(file)
}

/// Only as much as tells whether the rest can be read.
#[derive(Deserialize)]
struct Version {
    schema: Option<u32>,
}

fn folder_name(provenance: &Provenance) -> String {
    let date: String = provenance.started.chars().take(10).collect();
    let commit: String = provenance.commit.chars().take(8).collect();
    let parts = [date, provenance.host.clone(), commit].map(|part| plain(&part));
    parts.join("-")
}

/// What is safe in a file name everywhere; empty becomes `unknown`.
fn plain(text: &str) -> String {
    let kept: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect();
    let kept = kept.trim_matches(['-', '.']);
    if kept.is_empty() { "unknown".to_owned() } else { kept.to_owned() }
}

/// Figures are numbers, and no time or room is negative.
fn check_figures(run: &Run) -> Result<()> {
    let possible = |figure: &f64| figure.is_finite() && *figure >= 0.0;
    for row in &run.throughput {
        let at =
            || format!("{} of {} on {} at n = {}", row.measure, row.backend, row.workload, row.n);
        ensure!(!row.ns_per_op.is_empty(), "{} has no samples", at());
        ensure!(
            row.ns_per_op.iter().all(possible),
            "{} holds a figure that no measurement gives",
            at()
        );
    }
    for row in &run.footprints {
        let at = || format!("the memory of {} on {}", row.backend, row.workload);
        ensure!(possible(&row.peak), "{} is no figure that a measurement gives", at());
    }
    for row in &run.memory {
        let are_possible = [row.live, row.peak, row.churned].iter().all(possible);
        ensure!(
            are_possible,
            "memory of {} at n = {} holds a figure that no measurement gives",
            row.backend,
            row.n
        );
    }
    ensure!(possible(&run.provenance.clock_overhead_ns), "the overhead of the clock is no time");
    Ok(())
}

fn csv_of(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head)?;
    for row in rows {
        writer.write_record(row)?;
    }
    writer.into_inner().context("cannot write the rows as CSV")
}

fn throughput_csv(run: &Run) -> Result<Vec<u8>> {
    let rows = run.throughput.iter().flat_map(|row| {
        row.ns_per_op.iter().enumerate().map(|(k, ns)| {
            let names =
                [row.backend.clone(), row.workload.clone(), row.n.to_string(), row.measure.clone()];
            let figures = [row.operations.to_string(), (k + 1).to_string(), ns.to_string()];
            names.into_iter().chain(figures).collect()
        })
    });
    csv_of(&["backend", "workload", "n", "measure", "operations", "repetition", "ns_per_op"], rows)
}

fn latency_csv(run: &Run) -> Result<Vec<u8>> {
    let head = [
        "backend",
        "workload",
        "n",
        "operation",
        "count",
        "p50_ns",
        "p90_ns",
        "p99_ns",
        "p999_ns",
        "p9999_ns",
        "max_ns",
    ];
    let rows = run.latency.iter().map(|row| {
        let names =
            [row.backend.clone(), row.workload.clone(), row.n.to_string(), row.operation.clone()];
        let figures = [row.count, row.p50, row.p90, row.p99, row.p999, row.p9999, row.max];
        names.into_iter().chain(figures.iter().map(u64::to_string)).collect()
    });
    csv_of(&head, rows)
}

fn memory_csv(run: &Run) -> Result<Vec<u8>> {
    let rows = run.memory.iter().map(|row| {
        let figures = [row.live, row.peak, row.churned].map(|b| b.to_string());
        [row.backend.clone(), row.n.to_string()].into_iter().chain(figures).collect()
    });
    csv_of(
        &[
            "backend",
            "n",
            "live_bytes_per_timer",
            "peak_bytes_per_timer",
            "churned_bytes_per_timer",
        ],
        rows,
    )
}

fn footprint_csv(run: &Run) -> Result<Vec<u8>> {
    let rows = run.footprints.iter();
    let rows = rows.map(|row| {
        let figures = [row.peak.to_string(), row.wakeups.to_string()];
        [row.backend.clone(), row.workload.clone()].into_iter().chain(figures).collect()
    });
    csv_of(&["backend", "workload", "peak_bytes_per_timer", "wakeups"], rows)
}

fn failures_csv(run: &Run) -> Result<Vec<u8>> {
    let rows = run.failures.iter();
    let rows = rows
        .map(|f| vec![f.backend.clone(), f.workload.clone(), f.n.to_string(), f.message.clone()]);
    csv_of(&["backend", "workload", "n", "message"], rows)
}

fn provenance_text(run: &Run) -> String {
    let mut lines: Vec<String> = provenance::lines(&run.provenance)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    if run.interrupted {
        lines.push("interrupted: yes, rows are missing\n".to_owned());
    }
    lines.concat()
}
