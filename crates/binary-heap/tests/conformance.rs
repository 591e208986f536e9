//! The contract, on this backend: with two children for each node, as it is by default, with four
//! and eight, and with lazy deletion.

use wheelhouse_binary_heap::Definition;

wheelhouse_conformance::suite!(Definition);

mod four_children {
    wheelhouse_conformance::suite!(super::Definition<4>);
}

mod eight_children {
    wheelhouse_conformance::suite!(super::Definition<8>);
}

mod lazy {
    wheelhouse_conformance::suite!(wheelhouse_binary_heap::LazyDefinition);
}
