//! `wheelhouse service`: its output, its files and its errors. The measurements are tested in
//! `wheelhouse-service-load`.

use crate::{Scratch, fails, succeeds, wheelhouse};
use std::process::Command;

/// The smallest load.
const SHORT: [&str; 9] =
    ["service", "--jobs", "200", "--rate", "2000", "--seconds", "0.05", "--rounds", "1"];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], more].concat()
}

#[test]
fn each_form_has_the_same_rows() {
    let scratch = Scratch::new("forms");
    let chosen = ["--experiment", "pairs,audit", "--backend", "wheelhouse,tokio-delay-queue"];
    let shown = |form: &str| {
        let out = scratch.path(form);
        succeeds(&short(&[&chosen[..], &["--format", form, "--out", &out]].concat()))
    };
    let (table, csv, json) = (shown("table"), shown("csv"), shown("json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5 * 2, "five experiments on two facilities");
    assert!(rows.iter().all(|row| row["wrong"].is_null() && row["round"] == 1));
    assert!(
        rows[0]["pairs_s_per_s"].as_f64().unwrap() > 0.0
            && json["provenance"]["commit"].is_string()
    );
    let parts = ["pairs-window", "pairs-beside", "pairs-across", "audit", "tokio-delay-queue"];
    for part in parts {
        assert!(table.contains(part) && csv.contains(part), "{part}: {table}{csv}");
    }
    assert!(table.contains("bytes/job") && table.contains("Bounds and"), "{table}");
    assert!(
        table.lines().filter(|line| line.contains('═')).all(|line| line.chars().count() <= 125),
        "too wide:\n{table}"
    );
}

#[test]
fn a_folder_gets_the_report_and_every_play() {
    let scratch = Scratch::new("service");
    let out = scratch.path("out");
    let arguments = short(&["--experiment", "fires", "--backend", "wheelhouse", "--out", &out]);
    succeeds(&arguments);
    let report = std::fs::read_to_string(scratch.0.join("out/report.md")).unwrap();
    assert!(report.contains("2,000 jobs a second") && report.contains("processor"), "{report}");
    let rows: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(scratch.0.join("out/rows.json")).unwrap())
            .unwrap();
    assert!(rows["rows"][0]["runs"].as_f64().unwrap() >= 100.0);
    assert!(fails(&arguments).contains("not empty"), "results are never overwritten");
}

#[test]
fn a_relative_folder_is_one_of_the_working_directory() {
    let scratch = Scratch::new("relative");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelhouse"));
    command.args(short(&[
        "--experiment",
        "pairs-alone",
        "--backend",
        "wheelhouse",
        "--out",
        "out",
    ]));
    assert!(command.current_dir(&scratch.0).output().unwrap().status.success());
    assert!(scratch.0.join("out/report.md").is_file());
}

#[test]
fn what_cannot_be_played_is_refused_with_the_remedy() {
    let refused = [
        (["--rate", "0"], "--rate is from 1"),
        (["--jobs", "0"], "--jobs is from 1 to 20000000"),
        (["--producers", "0"], "--producers is from 1"),
        (["--tick", "0"], "--tick is from 0.001 to 1000 ms"),
        (["--backend", "netty"], "heap-and-condvar"),
        (["--experiment", "hold"], "pairs-alone"),
        (["--rounds", "0"], "--rounds is 1 or more"),
    ];
    for (arguments, part) in refused {
        let message = fails(&[&["service"], &arguments[..]].concat());
        assert!(message.contains(part), "{arguments:?}: {message}");
        assert_eq!(
            wheelhouse(&[&["service"], &arguments[..]].concat()).stdout,
            b"",
            "{arguments:?}"
        );
    }
}
