//! Tests the contract on the heap with two children per node (the default), with four, and with
//! lazy deletion. With eight children, which runs the same code, only two tests are run.

use wheelhouse_binary_heap::Definition;

wheelhouse_conformance::suite!(Definition);

mod four_children {
    wheelhouse_conformance::suite!(super::Definition<4>);
}

#[test]
fn a_heap_with_eight_children_agrees_with_the_oracle() {
    wheelhouse_conformance::property_any_sequence::<Definition<8>>();
    wheelhouse_conformance::differential_long_run::<Definition<8>>();
}

mod lazy {
    wheelhouse_conformance::suite!(wheelhouse_binary_heap::LazyDefinition);
}
