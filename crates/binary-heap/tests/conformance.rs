//! The contract, on this backend: with two children for each node, as it is by default, with four,
//! and with lazy deletion; with eight it is one of the others with another number.

use wheelhouse_binary_heap::Definition;

wheelhouse_conformance::suite!(Definition);

mod four_children {
    wheelhouse_conformance::suite!(super::Definition<4>);
}

#[test]
fn with_eight_children_it_does_the_same() {
    wheelhouse_conformance::property_any_sequence::<Definition<8>>();
    wheelhouse_conformance::differential_long_run::<Definition<8>>();
}

mod lazy {
    wheelhouse_conformance::suite!(wheelhouse_binary_heap::LazyDefinition);
}
