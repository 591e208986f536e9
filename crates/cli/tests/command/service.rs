//! `wheelhouse service`: its output, its files and its errors. The measurements are tested in
//! `wheelhouse-service-load`.

use crate::{Scratch, command, fails, succeeds};
use serde_json::Value;

/// The smallest load.
const SHORT: &str = "service --jobs 200 --rate 2000 --seconds 0.05 --rounds 1";

#[test]
fn each_form_has_the_same_rows_and_a_folder_gets_the_report_and_every_play() {
    let scratch = Scratch::new();
    let chosen = "--experiment pairs,audit --backend wheelhouse,tokio-delay-queue";
    let arguments = |form, out| format!("{SHORT} {chosen} --format {form} --out {out}");
    let (table_folder, json_folder) = (scratch.path("table"), scratch.path("json"));
    let table = succeeds(&arguments("table", &table_folder));
    let json: Value = serde_json::from_str(&succeeds(&arguments("json", &json_folder))).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5 * 2, "five experiments on two facilities");
    assert!(rows.iter().all(|row| row["wrong"].is_null() && row["round"] == 1));
    assert!(rows[0]["pairs_s_per_s"].as_f64().unwrap() > 0.0);
    assert!(json["provenance"]["commit"].is_string());
    let experiments = ["pairs-window", "pairs-beside", "pairs-across", "audit"];
    for part in experiments.iter().chain(&["tokio-delay-queue", "bytes/job", "Bounds and"]) {
        assert!(table.contains(part), "{part}: {table}");
    }
    let is_narrow = |line: &str| !line.contains('═') || line.chars().count() <= 125;
    assert!(table.lines().all(is_narrow), "too wide:\n{table}");

    let read = |file| std::fs::read_to_string(scratch.path(&format!("json/{file}"))).unwrap();
    let report = read("report.md");
    assert!(report.contains("200 jobs pending") && report.contains("processor"), "{report}");
    assert_eq!(serde_json::from_str::<Value>(&read("rows.json")).unwrap(), json);
    let message = fails(&arguments("json", &json_folder));
    assert!(message.contains("not empty"), "results are never overwritten: {message}");
}

#[test]
fn a_relative_folder_is_one_of_the_working_directory() {
    let scratch = Scratch::new();
    let alone = "--experiment pairs-alone --backend wheelhouse --out out";
    let output = command(&format!("{SHORT} {alone}")).current_dir(scratch.0.path()).output();
    let message = String::from_utf8(output.unwrap().stderr).unwrap();
    let is_warned = message.contains("times of a debug build are not comparable");
    assert_eq!(is_warned, cfg!(debug_assertions), "{message}");
    assert!(scratch.has("out/report.md"));
}
