//! The descriptions of these structures for the conformance suite and the benchmark.

use crate::{
    HashedMap, OrderedMap, RedBlackTree, SortedList, SortedListFromRear, SortedSlice, UnorderedList,
};
use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::timer_backend;

/// The most timers to measure if an operation visits all timers.
const LINEAR: u32 = 10_000;

/// The costs of a structure without order.
const UNORDERED: Costs = Costs {
    insert: "O(1)",
    cancel: "O(1)",
    reschedule: "O(1)",
    fire: "O(n) a tick, O(log k) each of k",
};

/// Starting and stopping take a step each, moving takes two. All timers are read when one may be
/// due, which a cancelled timer can make it seem. The timers that are due are sorted and removed
/// one by one.
fn unordered(n: u64) -> Bounds {
    let look = n as f64;
    Bounds {
        insert: 1.0,
        cancel: 1.0,
        reschedule: 2.0,
        fire: 3.5 + in_b_tree(n),
        empty_tick: 1.0 + look / 500.0,
        ..Bounds::NONE
    }
}

/// The number of comparisons of a binary search.
fn bisection(n: u64) -> f64 {
    f64::from(n.max(1).ilog2() + 1)
}

/// The number of comparisons of a search in a B-tree. A node has five to eleven keys, about eight,
/// and half of them are compared one by one: some four on each of the lg n / lg 8 levels.
fn in_b_tree(n: u64) -> f64 {
    1.5 * bisection(n)
}

timer_backend! {
    /// Varghese and Lauck's scheme 1.
    UnorderedListDefinition of UnorderedList<T, M>,
    Info {
        name: "unordered-list",
        structure: "unordered array, all timers read when one may be due",
        source: "Varghese & Lauck scheme 1",
        max_idle_wakeups: 1,
        costs: UNORDERED,
        bounds: unordered,
        max_timers: LINEAR,
        ..Info::EXACT
    }
}

timer_backend! {
    /// A hash map without order.
    HashedMapDefinition of HashedMap<T, M>,
    Info {
        name: "hash-map",
        structure: "hash map by handle, all timers read when one may be due",
        source: "session stores; similar: ZooKeeper's expiry queue",
        max_idle_wakeups: 1,
        costs: UNORDERED,
        bounds: unordered,
        max_timers: LINEAR,
        ..Info::EXACT
    }
}

timer_backend! {
    /// Varghese and Lauck's scheme 2, searched from the head.
    SortedListDefinition of SortedList<T, M>,
    Info {
        name: "sorted-list",
        structure: "sorted doubly linked list, searched from the head",
        source: "Varghese & Lauck scheme 2; BSD callouts before 1995",
        costs: Costs { insert: "O(n)", cancel: "O(1)", reschedule: "O(n)", fire: "O(1)" },
        // Two steps for each timer passed. With uniform delays an insertion passes half of the
        // timers if all were started together, two thirds if old and new timers are mixed.
        bounds: |n| {
            let search = 6.0 + 2.0 * 0.75 * n as f64;
            Bounds {
                insert: search,
                cancel: 2.0,
                reschedule: 2.0 + search,
                fire: 3.5,
                ..Bounds::NONE
            }
        },
        max_timers: LINEAR,
        ..Info::EXACT
    }
}

timer_backend! {
    /// Varghese and Lauck's scheme 2, searched from the rear.
    SortedListFromRearDefinition of SortedListFromRear<T, M>,
    Info {
        name: "sorted-list-rear",
        structure: "sorted doubly linked list, searched from the rear",
        source: "Varghese & Lauck scheme 2, recommended for equal delays",
        costs: Costs {
            insert: "O(n), O(1) if due last",
            cancel: "O(1)",
            reschedule: "O(n)",
            fire: "O(1)",
        },
        bounds: SortedListDefinition::INFO.bounds,
        max_timers: LINEAR,
        ..Info::EXACT
    }
}

timer_backend! {
    /// A sorted array.
    SortedSliceDefinition of SortedSlice<T, M>,
    Info {
        name: "sorted-slice",
        structure: "sorted array, binary search, elements move to make room",
        source: "the slice of alex023/clock's comparison",
        costs: Costs { insert: "O(n)", cancel: "O(n)", reschedule: "O(n)", fire: "O(1)" },
        bounds: |n| {
            let step = bisection(n) + 0.75 * n as f64;
            Bounds { insert: step, cancel: step, reschedule: 2.0 * step, fire: 1.5, ..Bounds::NONE }
        },
        max_timers: LINEAR,
        ..Info::EXACT
    }
}

timer_backend! {
    /// Varghese and Lauck's scheme 3, balanced.
    RedBlackTreeDefinition of RedBlackTree<T, M>,
    Info {
        name: "red-black-tree",
        structure: "red-black tree, nodes reached by handle",
        source: "Varghese & Lauck scheme 3; alex023/clock, Linux hrtimers",
        costs: Costs {
            insert: "O(log n)",
            cancel: "O(1) amortised, worst O(log n)",
            reschedule: "O(log n)",
            fire: "O(1) amortised",
        },
        // An insertion makes a comparison and follows a link on each level, and a tree is a tenth
        // higher than an optimal one. About one rotation, with six links, rebalances the tree.
        bounds: |n| {
            let search = 2.3 * bisection(n) + 6.0;
            Bounds {
                insert: search,
                cancel: 12.0,
                reschedule: search + 12.0,
                fire: 12.0,
                ..Bounds::NONE
            }
        },
        ..Info::EXACT
    }
}

timer_backend! {
    /// Varghese and Lauck's scheme 3, on the standard library's B-tree.
    OrderedMapDefinition of OrderedMap<T, M>,
    Info {
        name: "btree-map",
        structure: "B-tree by (deadline, insertion)",
        source: "Varghese & Lauck scheme 3; std's BTreeMap",
        costs: Costs {
            insert: "O(log n)",
            cancel: "O(log n)",
            reschedule: "O(log n)",
            fire: "O(log n)",
        },
        // Finding and removing the first timer takes only the comparison with the clock.
        bounds: |n| {
            let search = in_b_tree(n);
            Bounds {
                insert: search,
                cancel: search,
                reschedule: 2.0 * search,
                fire: 1.5,
                ..Bounds::NONE
            }
        },
        ..Info::EXACT
    }
}
