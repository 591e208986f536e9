//! The tests that the table of failures names exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The files that a path of the page names. `*` is replaced by each server.
fn files(path: &str) -> Vec<String> {
    match path.contains('*') {
        true => ["redis", "postgres"].map(|server| path.replace('*', server)).into(),
        false => vec![path.to_owned()],
    }
}

#[test]
fn the_tests_named_in_the_table_of_failures_exist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(crates.join("durable/FAILURES.md")).unwrap();
    let mut tests = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with('|')).skip(2) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let (mut paths, mut named) = (Vec::new(), 0);
        for name in last.split('`').skip(1).step_by(2) {
            match name.ends_with(".rs") {
                // Adjacent paths have the same tests.
                true if named > 0 => (paths, named) = (files(name), 0),
                true => paths.extend(files(name)),
                false => {
                    named += 1;
                    for path in &paths {
                        let code = fs::read_to_string(crates.join(path)).unwrap();
                        assert!(code.contains(&format!("fn {name}(")), "{path}: {name}: {row}");
                        tests.insert((path.clone(), name));
                    }
                }
            }
        }
        assert!(named > 0, "no test in {row}");
    }
    assert!(tests.len() > 40, "{}", tests.len());
}
