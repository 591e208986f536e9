//! The list of backends: the one place that names them all.
//!
//! Adding a backend is a crate and a line in [`for_each_backend!`]; every test, bench, table and plot goes through
//! [`visit`] and finds it there.

use wheelhouse_core::backend::{Backend, Info};

/// Something to do with a backend, whichever it is. A closure cannot be generic; a visitor is one that can.
pub trait Visitor {
    /// Is called with each backend in turn.
    fn visit<B: Backend + 'static>(&mut self);
}

/// Passes the list of backends to a macro: `name!(First, Second, ...)`. The order is that of tables and plots.
#[macro_export]
macro_rules! for_each_backend {
    ($each:path) => {
        $each!(
            wheelhouse_hierarchical_wheel::Definition,
            wheelhouse_round_wheel::Definition,
            wheelhouse_binary_heap::Definition,
            wheelhouse_skip_list::Definition,
        );
    };
}

/// Calls the visitor with each backend, in the order of tables and plots.
pub fn visit(visitor: &mut impl Visitor) {
    macro_rules! each {
        ($($backend:ty,)+) => { $(visitor.visit::<$backend>();)+ };
    }
    for_each_backend!(each);
}

/// Name, source and costs of each backend.
pub fn all() -> Vec<Info> {
    struct Infos(Vec<Info>);
    impl Visitor for Infos {
        fn visit<B: Backend + 'static>(&mut self) {
            self.0.push(B::INFO);
        }
    }
    let mut infos = Infos(Vec::new());
    visit(&mut infos);
    infos.0
}
