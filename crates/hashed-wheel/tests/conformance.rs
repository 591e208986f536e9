//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_hashed_wheel::Definition);
