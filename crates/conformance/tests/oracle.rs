//! The oracle, with which the suite compares, passes the suite itself.

use wheelhouse_conformance::{OracleDefinition, checks};

wheelhouse_conformance::suite!(OracleDefinition);

#[test]
fn every_promise_has_a_check_named_after_it() {
    let checks = checks::<OracleDefinition>();
    for number in (1..=11).filter(|number| cfg!(feature = "memory") || *number != 8) {
        let prefix = format!("contract_{number:02}_");
        assert!(checks.iter().any(|check| check.name.starts_with(&prefix)), "no check {prefix}");
    }
}
