//! The oracle, with which the suite compares, passes the suite itself.

use wheelhouse_conformance::{OracleDefinition, checks};

wheelhouse_conformance::suite!(OracleDefinition);

/// An exact structure also keeps the promises of structures that are late by design.
mod late_by_nothing {
    use wheelhouse_conformance::{Oracle, OracleDefinition};
    use wheelhouse_core::backend::{Backend, Info, Precision};
    use wheelhouse_core::meter::Meter;

    struct Late;

    impl Backend for Late {
        const INFO: Info = Info { precision: Precision::Late(|_| 0), ..OracleDefinition::INFO };

        type Timer<T, M: Meter> = Oracle<T>;

        fn build<T, M: Meter + Default>() -> Oracle<T> {
            Oracle::new()
        }

        fn meter<T, M: Meter>(_: &Oracle<T>) -> Option<&M> {
            None
        }
    }

    wheelhouse_conformance::suite!(Late);
}

#[test]
fn every_promise_has_a_check_named_after_it() {
    let checks = checks::<OracleDefinition>();
    for number in (1..=11).filter(|number| cfg!(feature = "memory") || *number != 8) {
        let prefix = format!("contract_{number:02}_");
        assert!(checks.iter().any(|check| check.name.starts_with(&prefix)), "no check {prefix}");
    }
}
