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
use std::path::Path;
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

/// Returns `true` if callgrind can be run.
pub fn is_installed() -> bool {
    version().is_some()
}

/// Runs this program under callgrind with these arguments, and counts within the function of that
/// name. Modules may precede the name: `module::function`.
///
/// # Errors
///
/// If valgrind cannot be run, the program fails, or the function is never called.
pub fn count(function: &str, arguments: &[String]) -> Result<CallgrindRun> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("wheelhouse-callgrind-{}-{number}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let output = run(function, arguments, &file)?;
    let profile = std::fs::read_to_string(&file);
    // Callgrind may have written no file.
    let _ = std::fs::remove_file(&file);
    let command = arguments.join(" ");
    ensure!(output.status.success(), "under callgrind, {command}: {}", error_messages(&output));
    let calls = instruction_totals(&profile.context("callgrind wrote no profile")?);
    ensure!(!calls.is_empty(), "callgrind found no call of {function} in {command}");
    Ok(CallgrindRun { calls, printed: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
}

fn run(function: &str, arguments: &[String], profile: &Path) -> Result<Output> {
    let this = std::env::current_exe().context("cannot find this program")?;
    Command::new("valgrind")
        .args(["--tool=callgrind", "--vgdb=no", "--combine-dumps=yes", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(format!("--dump-after=*::{function}*"))
        .arg(this)
        .args(arguments)
        .output()
        .context("cannot run valgrind")
}

/// The error messages of a program that failed, without those of valgrind.
fn error_messages(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let own: Vec<_> = stderr.lines().filter(|line| !line.starts_with("==")).collect();
    if own.is_empty() { stderr.into_owned() } else { own.join("\n") }
}

/// The sum of each part of a profile, except the last, which covers the time after the last call.
fn instruction_totals(profile: &str) -> Vec<u64> {
    let total = |line: &str| line.strip_prefix("totals: ")?.trim().parse().ok();
    let mut totals: Vec<u64> = profile.lines().filter_map(total).collect();
    totals.pop();
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_a_total_and_the_last_part_is_left_out() {
        let profile = "part: 1\nsummary: 79\ntotals: 79\npart: 2\ntotals: 709\ntotals: 0\n";
        assert_eq!(instruction_totals(profile), [79, 709]);
        assert_eq!(instruction_totals("part: 1\ntotals: 0\n"), [0; 0]);
    }
}
