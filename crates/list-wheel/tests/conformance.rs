//! The contract, on this backend.

wheelhouse_conformance::suite!(wheelhouse_list_wheel::Definition);
