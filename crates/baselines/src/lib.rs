//! Simple timer structures to compare other timer facilities with.
//!
//! Each of them keeps the whole contract of [`Timer`], and each is slow in some operation. Varghese
//! and Lauck call the [`UnorderedList`] scheme 1, the [`SortedList`] scheme 2, and a tree such as
//! [`OrderedMap`] scheme 3.
//!
//! | structure | insert | cancel | per tick, nothing due | fire |
//! |---|---|---|---|---|
//! | [`UnorderedList`] | O(1) | O(1), O(log k) if one of k due timers | O(1) | O(n) per call, plus O(log k) for each of k timers |
//! | [`HashedMap`] | O(1) expected | O(1) expected, O(log k) if one of k due timers | O(1) | O(n) per call, plus O(log k) for each of k timers |
//! | [`SortedList`] | O(n) | O(1) | O(1) | O(1) per timer |
//! | [`SortedSlice`] | O(n) | O(n) | O(1) | O(1) per timer |
//! | [`RedBlackTree`] | O(log n) | O(1) amortised, worst O(log n) | O(1) | O(1) amortised per timer |
//! | [`OrderedMap`] | O(log n) | O(log n) | O(1) | O(log n) per timer |
//!
//! A structure without order, [`Unordered`], reads all timers when one may be due. It remembers a
//! tick before which none is due, so earlier ticks cost one comparison. (The paper's scheme 1 reads
//! all timers at each tick, because it decrements a counter in each.) A structure with an order,
//! [`Ordered`], uses (deadline, insertion) as its key and reads only its first timer.
//!
//! ```
//! use wheelhouse_baselines::{OrderedMap, Timer};
//!
//! let mut sessions = OrderedMap::new(); // one tick is a second
//! let id = sessions.insert(3_600, "session 1");
//! sessions.insert(3_600, "session 2");
//! assert!(sessions.reschedule(id, 7_200));
//! assert_eq!(sessions.next_wakeup(), Some(3_600));
//! assert_eq!(sessions.advance(3_600, |expired| assert_eq!(expired.value, "session 2")), 1);
//! ```
//!
//! # Source
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, section 3. With
//! more than a few hundred timers, use `wheelhouse-hierarchical-wheel` or `wheelhouse-binary-heap`.
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
pub use list::{Head, List, Rear, SearchFrom};
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

/// Scheme 2: a sorted, doubly linked list. It is searched from the head, or from the rear with
/// `SortedList<T, Rear>`.
pub type SortedList<T, From = Head, M = NoMeter> = Ordered<T, List<From>, M>;

/// A sorted array with binary search. Inserting or removing a timer moves all timers that are due
/// before it.
pub type SortedSlice<T, M = NoMeter> = Ordered<T, Slice, M>;

/// Scheme 3: a red-black tree whose handles lead to its nodes.
pub type RedBlackTree<T, M = NoMeter> = Ordered<T, Tree, M>;

/// Scheme 3 again: the standard library's B-tree, which has no handles.
pub type OrderedMap<T, M = NoMeter> = Ordered<T, Map<M>, M>;

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
