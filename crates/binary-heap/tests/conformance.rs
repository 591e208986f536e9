//! The contract, on this backend: with two children for each node, as it is by default, and with four and eight.

use wheelhouse_binary_heap::{BinaryHeap, Definition};
use wheelhouse_core::backend::{Backend, Bounds, Info};
use wheelhouse_core::meter::Meter;

wheelhouse_conformance::suite!(Definition);

/// On each level of a flatter tree, one move and a comparison with each of the other children.
fn bounds<const ARITY: usize>(n: u64) -> Bounds {
    let levels = f64::from(n.max(1).ilog2() / ARITY.ilog2() + 1);
    Bounds { fire: 4.0 + (ARITY as f64 + 0.2) * levels, ..(Definition::INFO.bounds)(n) }
}

/// The heap with another arity.
struct Arity<const ARITY: usize>;

impl<const ARITY: usize> Backend for Arity<ARITY> {
    const INFO: Info = Info {
        name: "d-ary-heap",
        structure: "indexed heap of another arity",
        bounds: bounds::<ARITY>,
        ..Definition::INFO
    };

    type Timer<T, M: Meter> = BinaryHeap<T, ARITY, M>;

    fn build<T, M: Meter + Default>() -> Self::Timer<T, M> {
        BinaryHeap::<T, ARITY>::builder().meter(M::default()).build().expect("the defaults are valid")
    }

    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}

mod four_children {
    wheelhouse_conformance::suite!(super::Arity<4>);
}

mod eight_children {
    wheelhouse_conformance::suite!(super::Arity<8>);
}
