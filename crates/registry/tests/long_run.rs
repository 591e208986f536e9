//! Long random runs, compared with the oracle.

use std::thread::{self, JoinHandle};
use wheelhouse_conformance::{differential_crowd, differential_long_run};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_registry::{Visitor, visit, visit_approximate};

/// The long run of the conformance suite on every backend, optimised: three million operations
/// each. In an unoptimised build, the suite of each backend plays a tenth of that. Each backend has
/// a thread, so that all processors have work.
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

/// A run of a structure that is made for many timers. The conformance suite plays millions of
/// operations on few timers. Here up to 200,000 timers are live, so the hierarchical wheel is
/// large: slots open ahead on several levels, and lists are read ahead.
/// `WHEELHOUSE_SOAK=1000000000` plays a billion operations instead of some millions.
fn soak<B: Backend>()
where
    B::Timer<u64, NoMeter>: Clone,
{
    let named = std::env::var("WHEELHOUSE_SOAK").ok();
    let default = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
    let operations = named.map_or(default, |count| count.parse().expect("a number of operations"));
    let most = differential_crowd::<B>(operations);
    println!("{}: {operations} operations, at most {most} live", B::INFO.name);
    assert!(most > 1 << 17 || operations < 5_000_000, "at most {most} live");
}

#[test]
fn a_large_hierarchical_wheel_agrees_with_the_oracle() {
    soak::<wheelhouse_hierarchical_wheel::Definition>();
}

#[test]
fn a_large_list_wheel_agrees_with_the_oracle() {
    soak::<wheelhouse_hierarchical_wheel::list::Definition>();
}

#[test]
fn a_large_heap_agrees_with_the_oracle() {
    soak::<wheelhouse_binary_heap::Definition>();
}
