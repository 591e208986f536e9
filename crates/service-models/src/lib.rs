//! The tests of `wheelhouse-service` with loom, which runs each in every relevant order of its
//! threads. The tests are `crates/service/src/model_tests.rs`; this package compiles the sources of
//! the service with the primitives of loom, by the same flags and with the same dependencies as all
//! other tests:
//!
//! ```sh
//! cargo test -p wheelhouse-service-models --test models model_tests
//! ```
