#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod definition;
mod list;
mod map;
mod slice;
mod store;
mod tree;
mod unordered;

pub use definition::{
    HashedMapDefinition, OrderedMapDefinition, RedBlackTreeDefinition, SortedListDefinition,
    SortedListFromRearDefinition, SortedSliceDefinition, UnorderedListDefinition,
};
pub use list::List;
pub use map::Map;
pub use slice::Slice;
pub use store::{Entry, Hashed, Store};
pub use tree::Tree;
pub use unordered::Unordered;
pub use wheelhouse_core::ordered::Ordered;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::NoMeter;

/// Varghese and Lauck's scheme 1: all timers side by side, unordered, as in a slice.
pub type UnorderedList<T, M = NoMeter> = Unordered<T, Arena<Entry<T>>, M>;

/// A hash map from handle to timer, without an order by deadline.
pub type HashedMap<T, M = NoMeter> = Unordered<T, Hashed<T>, M>;

/// Scheme 2: a sorted, doubly linked list, searched from the head.
pub type SortedList<T, M = NoMeter> = Ordered<T, List, M>;

/// Scheme 2, searched from the rear.
pub type SortedListFromRear<T, M = NoMeter> = Ordered<T, List<true>, M>;

/// A sorted array with binary search. Inserting or removing a timer moves all timers that are due
/// before it.
pub type SortedSlice<T, M = NoMeter> = Ordered<T, Slice, M>;

/// Scheme 3: a red-black tree whose handles lead to its nodes.
pub type RedBlackTree<T, M = NoMeter> = Ordered<T, Tree, M>;

/// Scheme 3 again: the standard library's B-tree, which has no handles.
pub type OrderedMap<T, M = NoMeter> = Ordered<T, Map<M>, M>;
