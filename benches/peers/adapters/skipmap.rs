//! crossbeam-skiplist: a concurrent ordered map, used by one thread here. It also pays for the
//! threads that it supports.

use crate::peer::Peer;
use crossbeam_skiplist::SkipMap;
use wheelhouse_core::Tick;

/// The map, by (deadline, number). The key is the handle.
#[derive(Default)]
pub(crate) struct Skip {
    timers: SkipMap<(Tick, u64), u64>,
    started: u64,
}

impl Peer for Skip {
    const NAME: &'static str = "crossbeam-skiplist";
    const PACKAGE: Option<&'static str> = Some("crossbeam-skiplist");
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
        self.timers.remove(kept.as_ref()?).map(|entry| *entry.value())
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Self::Handle>, deadline: Tick) -> bool {
        let value = self.cancel(kept);
        *kept = value.map(|value| self.insert(deadline, value));
        kept.is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while let Some(first) = self.timers.front().filter(|first| first.key().0 <= now) {
            first.remove();
            fire(*first.value());
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.timers.front().map(|first| first.key().0)
    }
}
