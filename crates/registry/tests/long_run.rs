//! The long random run of the conformance suite on every backend, optimised: three million
//! operations each. In an unoptimised build, the suite of each backend plays a tenth of that.

use std::thread::{self, JoinHandle};
use wheelhouse_conformance::differential_long_run;
use wheelhouse_core::backend::Backend;
use wheelhouse_registry::{Visitor, visit, visit_approximate};

/// A thread for each backend, so that all processors have work.
#[derive(Default)]
struct LongRun(Vec<JoinHandle<()>>);

impl Visitor for LongRun {
    fn visit<B: Backend + 'static>(&mut self) {
        let thread = thread::Builder::new().name(B::INFO.name.to_owned());
        self.0.push(thread.spawn(differential_long_run::<B>).expect("a thread starts"));
    }
}

/// A failed assertion has printed the name of its thread, which is that of the backend.
fn in_threads(visit_all: impl FnOnce(&mut LongRun)) {
    let mut runs = LongRun::default();
    visit_all(&mut runs);
    let results: Vec<_> = runs.0.into_iter().map(JoinHandle::join).collect();
    assert!(results.iter().all(Result::is_ok), "a backend differs from the oracle");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "repeats what the suite of each backend plays")]
fn every_backend_agrees_with_the_oracle() {
    in_threads(visit);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "repeats what the suite of each backend plays")]
fn structures_that_are_late_by_design_keep_their_bound() {
    in_threads(visit_approximate);
}
