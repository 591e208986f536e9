//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_single_wheel::Definition);
