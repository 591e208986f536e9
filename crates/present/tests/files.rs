//! A folder that the caller names is used only if it is empty.

use std::fs;
use std::path::PathBuf;
use wheelhouse_present::files::create_or_use_empty;

/// A folder for one test that does not exist yet, in Cargo's folder for temporary files of tests.
fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let dir = dir.join(format!("files-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    dir
}

#[test]
fn a_named_folder_is_used_only_if_it_is_empty() {
    let out = scratch("create_at").join("deep").join("out");
    assert_eq!(create_or_use_empty(&out).unwrap(), out);
    assert_eq!(create_or_use_empty(&out).unwrap(), out, "an empty folder is fine");
    fs::write(out.join("precious"), "x").unwrap();
    let message = create_or_use_empty(&out).unwrap_err().to_string();
    assert!(message.contains("not empty") && message.contains("--out"), "{message}");
    let message = create_or_use_empty(&out.join("precious")).unwrap_err().to_string();
    assert!(message.contains("is a file"), "{message}");
}
