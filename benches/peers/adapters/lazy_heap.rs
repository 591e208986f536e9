//! Heaps that cannot remove from their middle, with the usual lazy deletion.

use crate::peer::Peer;
use dary_heap::DaryHeap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::{Tick, TimerId};

/// An entry of the heap, with the earliest on top.
pub(crate) type Item = Reverse<(Tick, TimerId)>;

/// A heap with lazy deletion.
#[derive(Default)]
pub(crate) struct Lazy<H> {
    heap: H,
    /// Values with their deadlines. A timer that was moved is also in the heap under its old
    /// deadline.
    timers: Arena<(Tick, u64)>,
}

#[inline]
fn is_live(timers: &Arena<(Tick, u64)>, Reverse((deadline, id)): &Item) -> bool {
    timers.get(*id).is_some_and(|timer| timer.0 == *deadline)
}

macro_rules! peer {
    ($heap:ty, $name:literal, $package:literal) => {
        impl Lazy<$heap> {
            /// The number of entries, dead ones included.
            #[inline]
            fn len(&self) -> usize {
                self.heap.len()
            }

            fn drop_dead(&mut self) {
                self.heap.retain(|item| is_live(&self.timers, item));
            }
        }

        impl Peer for Lazy<$heap> {
            const NAME: &'static str = $name;
            const PACKAGE: Option<&'static str> = Some($package);
            type Handle = TimerId;

            fn new(_: usize) -> Self {
                Self::default()
            }

            lazy_deletion!(self, 0, deadline, id => self.heap.push(Reverse((deadline, id))));

            #[inline]
            fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
                while self.heap.peek().is_some_and(|Reverse((deadline, _))| *deadline <= now) {
                    let Some(item) = self.heap.pop() else { break };
                    if is_live(&self.timers, &item)
                        && let Some(((), (_, value))) = self.timers.remove(item.0.1)
                    {
                        fire(value);
                    }
                }
            }

            #[inline]
            fn next_wakeup(&mut self) -> Option<Tick> {
                while self.heap.peek().is_some_and(|item| !is_live(&self.timers, item)) {
                    self.heap.pop();
                }
                self.heap.peek().map(|Reverse((deadline, _))| *deadline)
            }
        }
    };
}

peer!(BinaryHeap<Item>, "std-binary-heap-lazy", "std");
peer!(DaryHeap<Item, 4>, "dary-heap-4-lazy", "dary_heap");
