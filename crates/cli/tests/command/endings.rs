//! The exit code of the command and the files it leaves if it is interrupted or its output cannot
//! be written.

use crate::{Scratch, command, output_of, succeeds, wheelhouse};
use std::process::{Command, Output, Stdio};

/// A short command that writes results.
const SHORT: &str = "bench --time 1 --n 100 --workload steady --backend floor";

/// Runs a command whose standard output, or standard error, goes to a full disk; `None` if the
/// system has no `/dev/full`.
fn on_a_full_disk(line: &str, is_output: bool) -> Option<Output> {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").ok()?;
    let mut command = command(line);
    if is_output {
        command.stdout(full)
    } else {
        command.stderr(full)
    };
    Some(command.output().unwrap())
}

#[test]
fn a_full_disk_behind_the_output_is_an_error_and_costs_no_results() {
    let scratch = Scratch::new();
    let out = scratch.path("out");
    let bench = format!("{SHORT} --out {out}");
    let (compare, index) = (format!("compare {out} {out}"), format!("index {}", scratch.path("")));
    let commands = [&bench, "verify --n 100 --workload steady", "list", &compare, &index];
    for line in commands {
        let Some(output) = on_a_full_disk(line, true) else { return };
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {message}");
        let error = "error: cannot write to standard output: No space";
        assert!(message.contains(error), "{line}: {message}");
        let has_report = message.contains("report.html");
        assert!(line != bench || has_report, "names the report: {message}");
    }
    for file in ["run.json", "report.html", "report.md"] {
        assert!(scratch.has(&format!("out/{file}")), "{file} is missing");
    }
}

/// The results name the command, whose arguments may be any bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_not_utf_8_gets_results() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let out = scratch.0.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    output_of(command(SHORT).arg("--out").arg(&out));
    assert!(out.join("run.json").is_file());
}

#[test]
fn messages_that_cannot_be_printed_are_no_error() {
    let scratch = Scratch::new();
    let out = scratch.path("out");
    for line in [format!("{SHORT} --out {out}"), format!("report {out}")] {
        let Some(output) = on_a_full_disk(&line, false) else { return };
        assert_eq!(output.status.code(), Some(0), "{line}");
    }
    let Some(output) = on_a_full_disk("report no-such-run", false) else { return };
    assert_eq!(output.status.code(), Some(1), "it shows an error that cannot be printed");
}

/// Starts a command, sends it SIGINT (Ctrl-C) as soon as it handles the signal, and returns its
/// exit code.
fn interrupted(line: &str) -> Option<i32> {
    let mut child = command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id().to_string();
    let listens = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0 // bit 1: signal 2
    };
    while !listens() {
        assert!(child.try_wait().unwrap().is_none(), "{line} ended too early");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    child.wait().unwrap().code()
}

#[test]
fn an_interrupted_command_reports_it_and_leaves_a_readable_run() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::new();
    let out = scratch.path("out");
    let bench = format!("bench --n 30000 --workload uniform,tcp --out {out}");
    for line in ["verify --n 30000 --workload uniform,steady,tcp", &bench] {
        assert_eq!(interrupted(line), Some(130), "{line}");
    }
    succeeds(&format!("report {out}"));
}

#[test]
fn an_index_lists_the_runs_that_can_be_read_and_names_the_others() {
    let scratch = Scratch::new();
    let index = || wheelhouse(&format!("index {}", scratch.path("")));
    let none = index();
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8(none.stderr).unwrap().contains("no folder in"));
    succeeds(&format!("{SHORT} --out {}", scratch.path("a_run")));
    // A run of services has the same provenance in another file.
    let run = std::fs::read_to_string(scratch.path("a_run/run.json")).unwrap();
    std::fs::create_dir(scratch.path("of_services")).unwrap();
    std::fs::write(scratch.path("of_services/rows.json"), run).unwrap();
    assert_eq!(index().status.code(), Some(0));
    std::fs::create_dir(scratch.path("broken")).unwrap();
    std::fs::write(scratch.path("broken/run.json"), "{").unwrap();
    let both = index();
    assert_eq!(both.status.code(), Some(1));
    let shown = String::from_utf8(both.stdout).unwrap();
    for name in ["a_run", "of_services"] {
        let link = format!("| [{name}/report.md](<{name}/report.md>) |");
        assert!(shown.contains(&link), "{shown}");
    }
    assert!(String::from_utf8(both.stderr).unwrap().contains("broken/run.json is damaged"));
}
