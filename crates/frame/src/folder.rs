//! Folders of results. Each run gets a new one.

use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wheelhouse_machine::provenance::Provenance;

/// Makes a new folder for a run in `parent`, named `<date>-<host>-<commit>`. If it exists, `-2`,
/// `-3`, ... is appended.
///
/// # Errors
///
/// If the folder cannot be made.
pub fn create(parent: &Path, provenance: &Provenance) -> Result<PathBuf> {
    let cannot = |dir: &Path| {
        format!("cannot make the folder {}; name a writable one with --out", dir.display())
    };
    fs::create_dir_all(parent).with_context(|| cannot(parent))?;
    let name = folder_name(provenance);
    let mut dir = parent.join(&name);
    let mut copies = 1_u64;
    // `create_dir` fails if the folder exists, so two runs that start at once get two folders.
    while let Err(error) = fs::create_dir(&dir) {
        if error.kind() != ErrorKind::AlreadyExists {
            return Err(error).with_context(|| cannot(&dir));
        }
        copies += 1;
        dir = parent.join(format!("{name}-{copies}"));
    }
    Ok(dir)
}

fn folder_name(provenance: &Provenance) -> String {
    let date: String = provenance.started.chars().take(10).collect();
    let commit: String = provenance.commit.chars().take(8).collect();
    let parts = [date, provenance.host.clone(), commit].map(|part| safe_name(&part));
    parts.join("-")
}

/// A file name that is safe on every system. An empty text becomes `unknown`.
fn safe_name(text: &str) -> String {
    let kept: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect();
    let kept = kept.trim_matches(['-', '.']);
    if kept.is_empty() { "unknown".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_machine::provenance;

    #[test]
    fn folders_have_unique_names_of_date_machine_and_commit() {
        let scratch = std::env::temp_dir().join(format!("wheelhouse-frame-{}", std::process::id()));
        let results = scratch.join("results");
        let mut provenance = provenance::gather(1);
        provenance.started = "2026-11-21T12:00:00Z".to_owned();
        provenance.host = "xeon-2c".to_owned();
        provenance.commit = "02ff5b6a9d0c".to_owned();
        let name = |provenance: &Provenance| {
            let dir = create(&results, provenance).unwrap();
            dir.file_name().unwrap().to_string_lossy().into_owned()
        };
        let expected = "2026-11-21-xeon-2c-02ff5b6a";
        let names: Vec<String> = (0..3).map(|_| name(&provenance)).collect();
        assert_eq!(names, [expected, &format!("{expected}-2"), &format!("{expected}-3")]);
        (provenance.host, provenance.commit) = ("a b/../c".to_owned(), String::new());
        assert_eq!(name(&provenance), "2026-11-21-a-b-..-c-unknown");
        fs::remove_dir_all(scratch).unwrap();
    }
}
