//! Tests the contract on each of the structures.

macro_rules! suites {
    ($($name:ident: $definition:ident,)+) => {
        $(mod $name {
            wheelhouse_conformance::suite!(wheelhouse_baselines::$definition);
        })+
    };
}

suites! {
    unordered_list: UnorderedListDefinition,
    hash_map: HashedMapDefinition,
    sorted_list: SortedListDefinition,
    sorted_list_from_rear: SortedListFromRearDefinition,
    sorted_slice: SortedSliceDefinition,
    red_black_tree: RedBlackTreeDefinition,
    btree_map: OrderedMapDefinition,
}
