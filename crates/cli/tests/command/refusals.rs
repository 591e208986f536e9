//! Arguments that the command refuses, with a message that says what to do instead.

use crate::{Scratch, command, fails, succeeds, trace_file};
use std::fs::File;
use std::process::Command;
use wheelhouse_workload::trace::{self, Header};

/// Arguments, and parts of the message.
type Refused<'a> = (&'a str, &'a [&'a str]);

/// The message for a structure that no command compares.
const LATE: &[&str] =
    &["linux-wheel is late by design, so no comparison includes it", "list-wheel"];

/// Unknown names are answered with the known ones, and impossible values with possible ones.
const REFUSED: &[Refused<'_>] = &[
    ("verify --backend splay-tree", &["splay-tree", "list-wheel", "queue-per-delay"]),
    ("verify --backend linux-wheel", LATE),
    ("bench --backend linux-wheel --n 100", LATE),
    ("instructions --backend linux-wheel", LATE),
    ("bench --payload 64 --backend kafka-wheel", &["kafka-wheel takes no part here", "skip-list"]),
    ("verify --workload unifrom", &["uniform", "trace:redis"]),
    ("verify --workload trace:none", &["trace:nginx"]),
    ("verify --backend ,", &["a value is required", "--backend"]),
    ("verify --workload ,", &["a value is required", "--workload"]),
    ("verify --n 0", &["from 1 to"]),
    ("report no-such-run", &["no-such-run"]),
    ("bench --mix start:9,stop:40 --n 100", &["start:40"]),
    ("bench --mix halt:3 --n 100", &["start:45,stop:40"]),
    ("bench --quick --n 2000001", &["more than 2000000 timers", "set --time"]),
    ("bench --payload 7", &["possible values: 8, 64, 256"]),
    ("instructions --backend splay-tree", &["splay-tree", "round-wheel, "]),
    ("instructions --workload unifrom", &["uniform-dense", "trace:nginx"]),
    ("instructions --check none", &["no record", "wheelhouse instructions --out"]),
    ("instructions --check a --out b", &["cannot be used with"]),
    ("claims --id C999", &["no claim is called 'C999'", "C28"]),
    ("claims --question banana", &["no claim has any of these words: banana", "heap, "]),
    ("claims --id S3", &["S3 is an article, not a claim", "its claims: C"]),
    ("claims --id C28 --out report", &["cannot be used with"]),
    ("durable inspect mysql://h/", &["redis://HOST/"]),
    ("durable inspect redis://h/", &["--queue NAME"]),
    ("durable dump a --queue q", &["leave --queue out"]),
    ("durable backup none b", &["no file none: name the file that the program opens"]),
    ("durable restore none a", &["no file none: name the copy"]),
];

fn are_refused(all: &[Refused<'_>]) {
    for (line, parts) in all {
        let message = fails(line);
        let is_missing = |part: &&&str| !message.contains(**part);
        assert_eq!(parts.iter().find(is_missing), None, "{line}: {message}");
    }
}

#[test]
fn messages_name_the_remedy() {
    are_refused(REFUSED);
}

/// The command for all claims works for minutes, and one for instructions prints them before it
/// saves them.
#[test]
fn results_that_cannot_be_saved_are_an_error_before_the_work() {
    let scratch = Scratch::new();
    let file = scratch.path("file");
    std::fs::write(&file, "").unwrap();
    for line in ["claims", "claims --quick", "instructions --n 200 --workload uniform"] {
        for (below, part) in [("", "is a file; name a folder"), ("/a", "--out")] {
            let out = format!("{file}{below}");
            let output = command(line).args(["--out", &out]).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && message.contains(part), "{line}: {message}");
            assert!(output.stdout.is_empty() && message.lines().count() < 4, "{line}: {message}");
        }
    }
    let output = command("claims --record").current_dir(scratch.path("")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("record in the folder of the project"), "{message}");
}

#[test]
fn files_that_cannot_be_read_or_made_are_errors_and_leave_no_folder() {
    let scratch = Scratch::new();
    let [folder, out, file] = ["", "out", "file"].map(|name| scratch.path(name));
    std::fs::write(&file, [0xFF, 0xFE]).unwrap();
    let below = format!("{file}/out");
    let is_refused = |trace: &str, part| {
        are_refused(&[(&format!("bench --trace {trace} --out {out}"), &[part])]);
    };
    is_refused(&folder, "is a folder; name a trace file");
    is_refused("nosuch.trace", "nosuch.trace; name a trace file");
    let empty = scratch.path("empty.trace");
    let writer = trace::Writer::deflating(File::create(&empty).unwrap(), Header::default());
    writer.unwrap().finish("").unwrap();
    is_refused(&empty, "trace:empty starts no timer");
    is_refused(&trace_file(&scratch, |bytes| bytes.truncate(bytes.len() / 2)), "ends within");
    is_refused(&trace_file(&scratch, |bytes| bytes[100_000] ^= 1), "corrupt");
    are_refused(&[
        (&format!("bench --n 100 --workload steady --out {below}"), &["out"]),
        (&format!("compare {file} {file}"), &["name the folder of a run"]),
    ]);
    let message = fails(&format!("bench --trace {folder} --out {out}"));
    assert!(!message.contains("os error"), "the message has no second reason: {message}");
    assert!(!scratch.has("out"), "a run that cannot begin leaves no folder");
    assert_eq!(std::fs::read(&file).unwrap(), [0xFF, 0xFE]);
}

#[test]
fn more_timers_than_there_is_memory_for_are_refused_before_anything_is_measured() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::new();
    let out = scratch.path("out");
    let bench = format!("bench --n 100,200000000 --out {out}");
    for line in ["verify --n 200000000", &bench] {
        let limited = Command::new("sh")
            .env("WHEELHOUSE_DEBUG_BUILD", "1")
            .args(["-c", "ulimit -v 3000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_wheelhouse")])
            .args(line.split_whitespace())
            .args(["--workload", "uniform"])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&limited.stderr);
        assert_eq!(limited.status.code(), Some(1), "{line}: {message}");
        for part in ["n = 200000000", "use a smaller --n"] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert!(!scratch.has("out"));
}

#[test]
fn runs_without_a_common_row_cannot_be_compared() {
    let scratch = Scratch::new();
    let run = |workload| {
        let out = scratch.path(workload);
        let bench = "bench --time 1 --n 100 --backend floor";
        succeeds(&format!("{bench} --workload {workload} --out {out}"));
        out
    };
    let message = fails(&format!("compare {} {}", run("steady"), run("same-slot")));
    for part in ["no row in common", "steady at n = 100", "same-slot at n = 100"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_build_without_optimisation_measures_only_on_request() {
    if !cfg!(debug_assertions) {
        return;
    }
    let scratch = Scratch::new();
    let bench = format!("bench --n 100 --workload steady --out {}", scratch.path("out"));
    let output = command(&bench).env_remove("WHEELHOUSE_DEBUG_BUILD").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("--release"), "{message}");
    assert!(!scratch.has("out"));
}
