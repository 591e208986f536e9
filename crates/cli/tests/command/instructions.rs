//! `wheelhouse instructions`: counts, record and check.
//!
//! Tests that need valgrind are skipped if it is not installed; `.ci/run` installs it.

use super::{Scratch, command, succeeds, wheelhouse};

/// The smallest count: two structures, one of them named twice, on few timers.
const FEW: &str = "instructions --n 200 --workload uniform \
                   --backend round-wheel,list-wheel,round-wheel";

fn has_valgrind() -> bool {
    let found = wheelhouse_machine::callgrind::version().is_some();
    if !found {
        eprintln!("skipped: valgrind is not installed (apt-get install valgrind)");
    }
    found
}

#[test]
fn without_valgrind_the_remedy_is_named() {
    let scratch = Scratch::new();
    let an_empty_folder = scratch.path("");
    let output = command(FEW).env("PATH", an_empty_folder).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot run valgrind"), "{message}");
    assert!(message.contains("apt-get install valgrind"), "{message}");
}

#[test]
fn a_count_passes_the_check_against_itself_and_a_planted_increase_fails_it() {
    if !has_valgrind() {
        return;
    }
    let scratch = Scratch::new();
    let record = scratch.path("record");
    let table = succeeds(&format!("{FEW} --out {record}"));
    assert!(table.contains("round-wheel") && table.contains("fire ticks"), "{table}");
    let page = std::fs::read_to_string(scratch.path("record/README.md")).unwrap();
    for part in ["| round-wheel |", "- compiler: ", "- valgrind: valgrind-"] {
        assert!(page.contains(part), "{part} in:\n{page}");
    }
    let file = scratch.path("record/instructions.json");
    succeeds(&format!("{FEW} --check {file}"));

    let text = std::fs::read_to_string(&file).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = json["rows"].as_array_mut().unwrap();
    let cancel = rows.iter_mut().find(|row| row["measure"] == "cancel").unwrap();
    let counted = cancel["instructions"].as_u64().unwrap();
    // As if the recorded count were lower by a tenth.
    cancel["instructions"] = (counted * 9 / 10).into();
    let insert = rows.iter_mut().find(|row| row["measure"] == "insert-warm").unwrap();
    insert["instructions"] = (insert["instructions"].as_u64().unwrap() * 2).into();
    rows.pop();
    std::fs::write(&file, json.to_string()).unwrap();
    let output = wheelhouse(&format!("{FEW} --check {record}"));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in [
        "error: cancel of list-wheel on uniform at n = 200: ",
        "less: insert-warm of list-wheel",
        "error: fire-ticks of round-wheel on uniform at n = 200: counted, but not in the record",
        "--out",
    ] {
        assert!(message.contains(part), "{part} in:\n{message}");
    }
}

#[test]
fn programs_get_every_row() {
    if !has_valgrind() {
        return;
    }
    let json = succeeds(&format!("{FEW} --format json"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows.len(), 2 * 6, "six measures for each");
    let figure = |row: &serde_json::Value, key: &str| row[key].as_u64().unwrap();
    let is_sane = |row| figure(row, "instructions") > figure(row, "operations");
    assert!(rows.iter().all(is_sane), "{json}");
}
