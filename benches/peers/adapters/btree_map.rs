//! The standard library's `BTreeMap` by (deadline, number), as in a program without a timer crate.

use crate::peer::Peer;
use std::collections::BTreeMap;
use wheelhouse_core::Tick;

/// The map. The key is the handle.
#[derive(Default)]
pub(crate) struct Map {
    timers: BTreeMap<(Tick, u64), u64>,
    started: u64,
}

impl Peer for Map {
    const NAME: &'static str = "std-btree-map";
    const PACKAGE: Option<&'static str> = Some("std");
    type Handle = (Tick, u64);

    fn new(_: usize) -> Self {
        Self::default()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Self::Handle {
        self.started += 1;
        self.timers.insert((deadline, self.started), value);
        (deadline, self.started)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Self::Handle>) -> Option<u64> {
        self.timers.remove(kept.as_ref()?)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Self::Handle>, deadline: Tick) -> bool {
        let value = self.cancel(kept);
        *kept = value.map(|value| self.insert(deadline, value));
        kept.is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while let Some(first) = self.timers.first_entry().filter(|first| first.key().0 <= now) {
            fire(first.remove());
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.timers.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}
