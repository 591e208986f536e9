//! The long random run of the conformance suite on every backend, optimised: three million
//! operations each. In an unoptimised build, the suite of each backend plays a tenth of that.

use wheelhouse_conformance::differential_long_run;
use wheelhouse_core::backend::Backend;
use wheelhouse_registry::{Visitor, visit, visit_approximate};

struct LongRun;

impl Visitor for LongRun {
    fn visit<B: Backend + 'static>(&mut self) {
        println!("{}", B::INFO.name);
        differential_long_run::<B>();
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "repeats what the suite of each backend plays")]
fn every_backend_agrees_with_the_oracle() {
    visit(&mut LongRun);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "repeats what the suite of each backend plays")]
fn structures_that_are_late_by_design_keep_their_bound() {
    visit_approximate(&mut LongRun);
}
