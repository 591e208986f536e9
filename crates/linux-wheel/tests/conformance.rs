//! Tests the contract of structures that are late by design on this backend.

wheelhouse_conformance::suite!(wheelhouse_linux_wheel::Definition);
