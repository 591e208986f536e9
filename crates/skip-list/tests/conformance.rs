//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_skip_list::Definition);
