//! The plain structures that timer facilities are measured against: what a program has before it
//! looks for a better one.
//!
//! Each of them is right, keeps the whole contract of [`Timer`], and is slow somewhere on purpose:
//! they show what the others are for. Varghese and Lauck call the first [`UnorderedList`] scheme 1,
//! the [`SortedList`] scheme 2, and a tree such as [`OrderedMap`] scheme 3.
//!
//! | structure | insert | cancel | per tick, nothing due | fire, per call in which something is due |
//! |---|---|---|---|---|
//! | [`UnorderedList`] | O(1) | O(1) | O(1) | O(n), and O(log k) each of k |
//! | [`HashedMap`] | O(1) expected | O(1) expected | O(1) | O(n) |
//! | [`SortedList`] | O(n) | O(1) | O(1) | O(1) per timer |
//! | [`SortedSlice`] | O(n) | O(n) | O(1) | O(1) per timer |
//! | [`RedBlackTree`] | O(log n) | O(log n), no search | O(1) | O(log n) per timer |
//! | [`OrderedMap`] | O(log n) | O(log n) | O(1) | O(log n) per timer |
//!
//! What has no order, [`Unordered`], looks at every timer when one may be due; it remembers a tick
//! before which none is, so that other ticks cost a comparison. (The paper's scheme 1 looks at each
//! tick: it decrements a count in every timer.) What has an order, [`Ordered`], keeps (deadline,
//! insertion) as its key and looks at its first.
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
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, section 3. Above a
//! few hundred timers pick another crate: `wheelhouse-hierarchical-wheel` or
//! `wheelhouse-binary-heap`.
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

/// Varghese and Lauck's scheme 1: all timers side by side in the order of their places, as a
/// program has them in a slice or a list.
pub type UnorderedList<T, M = NoMeter> = Unordered<T, Arena<Entry<T>>, M>;

/// A hash map from handle to timer: what the order of time costs where there is none.
pub type HashedMap<T, M = NoMeter> = Unordered<T, Hashed<T>, M>;

/// Scheme 2: a doubly linked list in order, searched from the head, or from the rear:
/// `SortedList<T, Rear>`.
pub type SortedList<T, From = Head, M = NoMeter> = Ordered<T, List<From>, M>;

/// A sorted array: found by bisection, and all behind a timer move when it comes or goes.
pub type SortedSlice<T, M = NoMeter> = Ordered<T, Slice, M>;

/// Scheme 3: a red-black tree, whose handles lead to its nodes.
pub type RedBlackTree<T, M = NoMeter> = Ordered<T, Tree, M>;

/// Scheme 3 once more: the standard library's B-tree, which has no handles.
pub type OrderedMap<T, M = NoMeter> = Ordered<T, Map<M>, M>;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
