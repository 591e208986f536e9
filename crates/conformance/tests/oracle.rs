//! The oracle keeps the contract: what the suite measures by passes the suite.

use wheelhouse_conformance::{OracleDefinition, checks};

wheelhouse_conformance::suite!(OracleDefinition);

#[test]
fn every_promise_has_a_check_named_after_it() {
    let mut promises = Vec::new();
    for check in checks::<OracleDefinition>() {
        match check.contract {
            Some(number) => {
                assert!(check.name.starts_with(&format!("contract_{number:02}_")), "{}", check.name);
                promises.push(number);
            }
            None => assert!(!check.name.starts_with("contract"), "{}", check.name),
        }
    }
    promises.sort_unstable();
    let expected: Vec<_> = (1..=11).filter(|number| *number != 8 || cfg!(feature = "memory")).collect();
    assert_eq!(promises, expected);
}
