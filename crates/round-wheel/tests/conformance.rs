//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_round_wheel::Definition);
