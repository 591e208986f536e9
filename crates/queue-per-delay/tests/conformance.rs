//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_queue_per_delay::Definition);
