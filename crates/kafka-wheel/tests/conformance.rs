//! Tests the contract on this backend.

wheelhouse_conformance::suite!(wheelhouse_kafka_wheel::Definition);
