//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_hierarchical_wheel::Definition);
