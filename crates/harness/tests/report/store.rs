use std::fs;
use std::path::Path;

use serde_json::json;
use wheelhouse_harness::{report, store};

use crate::{scratch, synthetic};

#[test]
fn a_saved_run_replaces_the_file_and_is_loaded_from_it_or_its_folder() {
    let dir = scratch("roundtrip");
    let run = synthetic::run();
    store::save(&dir, &synthetic::empty()).unwrap();
    store::save(&dir, &run).unwrap();
    for path in [dir.clone(), dir.join("run.json")] {
        let loaded = store::load(&path).unwrap();
        let same = serde_json::to_value(&loaded).unwrap() == serde_json::to_value(&run).unwrap();
        assert!(same, "a figure lost digits in {}", path.display());
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no other file is left");
}

#[test]
fn a_failed_save_leaves_the_old_file_unchanged() {
    let dir = scratch("fails");
    store::save(&dir, &synthetic::run()).unwrap();
    let before = fs::read(dir.join("run.json")).unwrap();
    let mut broken = synthetic::run();
    broken.throughput[3].ns_per_op[0] = f64::NAN;
    let message = store::save(&dir, &broken).unwrap_err().to_string();
    assert!(message.contains("no measurement") && message.contains("floor"), "{message}");
    // A folder in the way of the file makes the rename fail, as missing permissions would.
    fs::create_dir_all(dir.join("occupied").join("in the way")).unwrap();
    assert!(wheelhouse_present::files::write_whole(&dir.join("occupied"), b"x").is_err());
    assert_eq!(fs::read(dir.join("run.json")).unwrap(), before);
    let leftover = fs::read_dir(&dir)
        .unwrap()
        .any(|e| e.unwrap().file_name().to_string_lossy().ends_with(".tmp"));
    assert!(!leftover, "a temporary file was left behind");
}

#[test]
fn load_errors_state_the_remedy() {
    let dir = scratch("errors");
    let error = |path: &Path| format!("{:#}", store::load(path).unwrap_err());
    let remedy = "name the folder of a run";
    for path in [dir.clone(), dir.join("nowhere")] {
        let message = error(&path);
        assert!(message.contains("there is no run") && message.contains(remedy), "{message}");
    }
    store::save(&dir, &synthetic::run()).unwrap();
    let file = dir.join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    let other = text.replace("\"schema\": 1", "\"schema\": 99");
    for (bytes, part) in [
        (&text.as_bytes()[..text.len() / 2], "damaged or truncated; restore it from version"),
        (b"", "damaged or truncated; restore it from version"),
        (other.as_bytes(), "has layout 99 and this program reads layout 1"),
        (b"{}", "not a run of wheelhouse"),
        (b"{\"schema\": 1}", "damaged"),
        (b"# Title\n\n1 2", "not a run of wheelhouse"),
        (&[0xFF, 0xFE, 0x00], "not a run of wheelhouse"),
    ] {
        fs::write(&file, bytes).unwrap();
        let message = error(&dir);
        assert!(message.contains(part) && message.contains(remedy), "{part}: {message}");
        let is_other_file = part.starts_with("not a run");
        assert_ne!(message.contains("restore it"), is_other_file || part.contains("layout"));
    }
}

#[test]
fn impossible_figures_count_as_damage() {
    let dir = scratch("figures");
    store::save(&dir, &synthetic::run()).unwrap();
    let file = dir.join("run.json");
    let whole: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let reschedule = "reschedule of floor on uniform at n = 1000";
    let cases = [
        ("/throughput/3/ns_per_op/0", json!(-1.0), reschedule),
        ("/throughput/3/ns_per_op", json!([]), reschedule),
        ("/memory/0/peak", json!(-1.0), "memory of hierarchical-wheel at n = 1000"),
        ("/provenance/clock_overhead_ns", json!(-1.0), "the overhead of the clock"),
    ];
    for (place, value, row) in cases {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(place).unwrap() = value;
        fs::write(&file, damaged.to_string()).unwrap();
        let message = format!("{:#}", store::load(&dir).unwrap_err());
        let is_told = message.contains("is damaged or truncated; restore it from version control");
        assert!(is_told && message.contains(row), "{place}: {message}");
    }
}

#[test]
fn a_compressed_run_can_be_loaded() {
    let dir = scratch("packed");
    let run = synthetic::run();
    store::save(&dir, &run).unwrap();
    let plain = dir.join("run.json");
    let status = std::process::Command::new("gzip").arg(&plain).status().unwrap();
    assert!(status.success() && !plain.exists());
    assert_eq!(store::load(&dir).unwrap().throughput.len(), run.throughput.len());
    fs::write(dir.join("run.json.gz"), b"no archive").unwrap();
    let message = format!("{:#}", store::load(&dir).unwrap_err());
    assert!(message.contains("is damaged or truncated; restore it"), "{message}");
}

#[test]
fn a_report_has_the_digest_of_its_run() {
    let (dir, mut run) = (scratch("digest"), synthetic::run());
    store::save(&dir, &run).unwrap();
    let digest = store::digest(&dir).unwrap().expect("the run was saved");
    report::write(&run, None, &dir).unwrap();
    let text = fs::read_to_string(dir.join(report::MARKDOWN)).unwrap();
    assert!(text.contains(&digest) && digest.len() == 64, "{digest}");
    run.throughput[0].ns_per_op[0] += 1.0;
    store::save(&dir, &run).unwrap();
    assert_ne!(store::digest(&dir).unwrap(), Some(digest));
}
