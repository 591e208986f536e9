//! The contract of structures that are late by design, on this one.

wheelhouse_conformance::approximate_suite!(wheelhouse_linux_wheel::Definition);
