//! Runs this program under valgrind's callgrind, and reads how many instructions a function took.
//!
//! callgrind finds a function by its name, so the counted function must never be inlined
//! (`#[inline(never)]`). callgrind counts while that function runs, including all that it calls,
//! and nowhere else: preparation costs time under callgrind but is not counted. Each call has a
//! separate figure.
//!
//! Two options do this: `--toggle-collect` starts and stops the counting, and `--dump-after` writes
//! the count down when the function returns. Both take a pattern. The patterns must differ, since
//! callgrind 3.19 respects only one of two options with the same pattern.

use anyhow::{Context, Result, ensure};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

/// The result of a run under callgrind.
#[derive(Debug)]
pub struct CallgrindRun {
    /// Instructions of each call of the function, in order.
    pub calls: Vec<u64>,
    /// The output of the program.
    pub printed: String,
}

/// The version that valgrind reports; `None` if it cannot be run.
pub fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(version)
}

/// Runs this program under callgrind with these arguments, and counts within the function of that
/// name. Modules may precede the name: `module::function`.
///
/// # Errors
///
/// If valgrind cannot be run, the program fails, or the function is never called.
pub fn count(function: &str, arguments: &[String]) -> Result<CallgrindRun> {
    let toggle = format!("--toggle-collect=*{function}*");
    let dump = format!("--dump-after=*::{function}*");
    let (profile, printed) = profile(&[&toggle, &dump], arguments)?;
    let calls: Vec<u64> = totals(&profile).into_iter().map(|events| events[0]).collect();
    let command = arguments.join(" ");
    ensure!(!calls.is_empty(), "callgrind found no call of {function} in {command}");
    Ok(CallgrindRun { calls, printed })
}

/// Runs this program under callgrind, which simulates caches of this geometry (three options).
/// Returns for each call of the function `marker` how many cache lines of data were fetched since
/// the call before: those that the first level did not have, and those that the last level did not
/// have.
///
/// # Errors
///
/// If valgrind cannot be run, or the program fails.
pub fn cache_lines(marker: &str, geometry: &[&str], arguments: &[String]) -> Result<Vec<[u64; 2]>> {
    let dump = format!("--dump-after=*{marker}*");
    let (profile, _) = profile(&[geometry, &[&dump, "--cache-sim=yes"]].concat(), arguments)?;
    // The events are Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw.
    let lines = |events: Vec<u64>| [4, 7].map(|at| events.iter().skip(at).take(2).sum());
    Ok(totals(&profile).into_iter().map(lines).collect())
}

/// The profile of this program under callgrind, and what it printed.
fn profile(options: &[&str], arguments: &[String]) -> Result<(String, String)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("wheelhouse-callgrind-{}-{number}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let this = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--vgdb=no", "--combine-dumps=yes", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .args(options)
        .arg(this)
        .args(arguments)
        .output()
        .context("cannot run valgrind")?;
    let profile = std::fs::read_to_string(&file);
    // Callgrind may have written no file.
    let _ = std::fs::remove_file(&file);
    let command = arguments.join(" ");
    ensure!(output.status.success(), "under callgrind, {command}: {}", error_messages(&output));
    let profile = profile.context("callgrind wrote no profile")?;
    Ok((profile, String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

/// The error messages of a program that failed, without those of valgrind.
fn error_messages(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let own: Vec<_> = stderr.lines().filter(|line| !line.starts_with("==")).collect();
    if own.is_empty() { stderr.into_owned() } else { own.join("\n") }
}

/// The sum of each event in each part of a profile, except the last part, which covers the time
/// after the last call.
fn totals(profile: &str) -> Vec<Vec<u64>> {
    let events = |line: &str| line.split(' ').map(|event| event.parse().ok()).collect();
    let lines = profile.lines().filter_map(|line| line.strip_prefix("totals: "));
    let mut totals: Vec<_> = lines.filter_map(|line| events(line.trim())).collect();
    totals.pop();
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_a_total_and_the_last_part_is_left_out() {
        let profile = "part: 1\nsummary: 79\ntotals: 79\npart: 2\ntotals: 709 4\ntotals: 0\n";
        assert_eq!(totals(profile), [vec![79], vec![709, 4]]);
        assert_eq!(totals("part: 1\ntotals: 0\n"), [[0; 0]; 0]);
    }
}
