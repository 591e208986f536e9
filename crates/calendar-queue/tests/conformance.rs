//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_calendar_queue::Definition);
