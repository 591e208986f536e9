//! The oracle, with which the suite compares, passes the suite itself.

use wheelhouse_conformance::{OracleDefinition, approximate_checks, checks};

wheelhouse_conformance::suite!(OracleDefinition);

/// An exact structure also keeps the promises of structures that are late by design.
mod late_by_nothing {
    wheelhouse_conformance::approximate_suite!(super::OracleDefinition);
}

#[test]
fn every_promise_has_a_check_for_structures_that_are_late_by_design() {
    let checks = approximate_checks::<OracleDefinition>();
    let mut promises: Vec<_> = checks.iter().filter_map(|check| check.contract).collect();
    promises.sort_unstable();
    // A promise may have several checks.
    promises.dedup();
    let expected: Vec<_> =
        (1..=11).filter(|number| *number != 8 || cfg!(feature = "memory")).collect();
    assert_eq!(promises, expected);
    for check in checks {
        let numbered = |kind: &str, number| check.name.starts_with(&format!("{kind}_{number:02}_"));
        let named = |number| numbered("contract", number) || numbered("approximate", number);
        assert!(check.contract.is_none_or(named), "{}", check.name);
    }
}

#[test]
fn every_promise_has_a_check_named_after_it() {
    let mut promises = Vec::new();
    for check in checks::<OracleDefinition>() {
        match check.contract {
            Some(number) => {
                assert!(
                    check.name.starts_with(&format!("contract_{number:02}_")),
                    "{}",
                    check.name
                );
                promises.push(number);
            }
            None => assert!(!check.name.starts_with("contract"), "{}", check.name),
        }
    }
    promises.sort_unstable();
    // A promise may have several checks.
    promises.dedup();
    let expected: Vec<_> =
        (1..=11).filter(|number| *number != 8 || cfg!(feature = "memory")).collect();
    assert_eq!(promises, expected);
}
