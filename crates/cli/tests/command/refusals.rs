//! Arguments that the command refuses, with a message that says what to do instead.

use crate::{BACKENDS, Scratch, fails, succeeds};
use std::process::Command;

#[test]
fn what_is_unknown_is_answered_with_what_is_known() {
    let message = fails(&["verify", "--backend", "splay-tree"]);
    assert!(
        message.contains("splay-tree") && BACKENDS.iter().all(|backend| message.contains(backend)),
        "{message}"
    );
    let message = fails(&["verify", "--workload", "unifrom"]);
    assert!(message.contains("uniform") && message.contains("trace:redis"), "{message}");
    assert!(fails(&["verify", "--workload", "trace:none"]).contains("trace:nginx"));
    assert!(fails(&["verify", "--n", "0"]).contains("from 1 to"));
    assert!(fails(&["report", "no-such-run"]).contains("no-such-run"));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let scratch = Scratch::new("unwritable");
    let file = scratch.path("file");
    std::fs::write(&file, "in the way").unwrap();
    let below = format!("{file}/out");
    assert!(
        fails(&["bench", "--n", "100", "--workload", "steady", "--out", &below]).contains("out")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in the way");
}

#[test]
fn messages_name_the_remedy_and_say_things_once() {
    let scratch = Scratch::new("messages");
    let (folder, out) = (scratch.path(""), scratch.path("out"));
    let message = fails(&["bench", "--trace", &folder, "--out", &out]);
    assert!(
        message.contains("is a folder; name a trace file") && !message.contains("os error"),
        "{message}"
    );
    let message = fails(&["bench", "--trace", "nosuch.trace", "--out", &out]);
    assert!(message.contains("nosuch.trace; name a trace file"), "{message}");
    assert!(!scratch.0.join("out").exists(), "a run that cannot begin leaves no folder");
    let binary = scratch.path("x.trace");
    std::fs::write(&binary, [0xFF, 0xFE]).unwrap();
    assert!(fails(&["compare", &binary, &binary]).contains("name the folder of a run"));
    for option in ["--workload", "--backend"] {
        let message = fails(&["verify", option, ","]);
        assert!(message.contains("a value is required") && message.contains(option), "{message}");
    }
}

#[test]
fn more_timers_than_there_is_memory_for_are_refused_before_anything_is_measured() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let scratch = Scratch::new("memory");
    let out = scratch.path("out");
    let commands =
        [vec!["verify", "--n", "200000000"], vec!["bench", "--n", "100,200000000", "--out", &out]];
    for arguments in commands {
        let limited = Command::new("sh")
            .env("WHEELHOUSE_DEBUG_BUILD", "1")
            .args(["-c", "ulimit -v 3000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_wheelhouse")])
            .args(&arguments)
            .args(["--workload", "uniform"])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&limited.stderr);
        assert_eq!(limited.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(
            message.contains("n = 200000000") && message.contains("use a smaller --n"),
            "{message}"
        );
    }
    assert!(!scratch.0.join("out").exists());
}

#[test]
fn runs_without_a_common_row_cannot_be_compared() {
    let scratch = Scratch::new("nothing-common");
    let run = |workload| {
        let out = scratch.path(workload);
        succeeds(&[
            "bench",
            "--quick",
            "--n",
            "100",
            "--workload",
            workload,
            "--backend",
            "floor",
            "--out",
            &out,
        ]);
        out
    };
    let message = fails(&["compare", &run("steady"), &run("same-slot")]);
    for part in ["no row in common", "steady at n = 100", "same-slot at n = 100"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_build_without_optimisation_does_not_measure_unless_it_is_told_to() {
    if !cfg!(debug_assertions) {
        return;
    }
    let scratch = Scratch::new("debug-build");
    let bench = ["bench", "--n", "100", "--workload", "steady", "--out", &scratch.path("out")];
    let output = Command::new(env!("CARGO_BIN_EXE_wheelhouse"))
        .env_remove("WHEELHOUSE_DEBUG_BUILD")
        .args(bench)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("--release"), "{message}");
    assert!(!scratch.0.join("out").exists());
}

#[test]
fn a_mix_that_cannot_be_is_refused_with_one_that_can() {
    for (mix, remedy) in [("start:9,stop:40", "start:40"), ("halt:3", "start:45,stop:40")] {
        let message = fails(&["bench", "--mix", mix, "--n", "100"]);
        assert!(message.contains(remedy), "{message}");
    }
}
