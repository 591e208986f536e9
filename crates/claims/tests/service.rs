//! Tests of the service show that it does not have the faults of running services. The tests that
//! the claims name exist.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use wheelhouse_claims::{Claim, claims};

/// The tests that a claim names, as (path, function).
fn named(claim: &Claim) -> Vec<(&str, &str)> {
    let words = claim.because.split_whitespace().filter_map(|word| word.split_once("::"));
    words.map(|(path, name)| (path, name.trim_end_matches(['.', ',', ';']))).collect()
}

/// Returns `true` if a source text has a test with this name; a plain function does not count.
fn has_test(source: &str, name: &str) -> bool {
    let function = format!("fn {name}()");
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&function))
}

#[test]
fn the_tests_named_for_each_service_fault_exist() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let claims = claims()?;
    let faults: Vec<_> = claims.iter().filter(|claim| !named(claim).is_empty()).collect();
    let ids: Vec<_> = faults.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(ids, ["B4", "B6", "B7", "B8", "B11"]);
    for claim in faults {
        for (path, name) in named(claim) {
            let source = fs::read_to_string(root.join(path))
                .with_context(|| format!("{}: {path}", claim.id))?;
            ensure!(has_test(&source, name), "{}: {path} has no test {name}", claim.id);
        }
    }
    Ok(())
}

#[test]
fn a_function_without_test_attribute_does_not_count() {
    let source = "#[test]\nfn yes() {\n}\n/// fn no()\nfn no() {\n}\n";
    assert!(has_test(source, "yes"));
    assert!(!has_test(source, "no") && !has_test(source, "ye") && !has_test(source, "absent"));
}
