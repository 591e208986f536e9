//! A queue for each delay, as in libevent's common timeouts, Node.js and Envoy: timers with one
//! delay are due in the order in which they were started, so a list keeps them in order. Only the
//! heads of the lists are in an ordered structure. It is written here, since no crate offers it.
//!
//! The lists are doubly linked through an arena, so a cancelled timer is unlinked in O(1). An
//! ordered map holds the heads. A hash map finds the queue of a delay. A queue that becomes empty
//! is removed from both.
//!
//! The heads are sorted by (deadline, longest delay first). If two timers have one deadline, the
//! one with the longer delay was started earlier. Two timers with the same deadline and delay are
//! in the same queue. So timers fire in the order of (deadline, insertion), and no timer stores the
//! number of its insertion. An overdue deadline is moved to now, which is a delay of 0.
//!
//! With few delays, a start, a cancel and a move cost a hash lookup and a few links, plus an
//! operation on the small map if the head of a queue changes. With as many delays as timers, each
//! timer has its own queue, and each call is also an operation on a large map. The delay is the
//! deadline minus now, so the deadlines must be computed from the clock that `advance` was given.

use crate::peer::Peer;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::mem;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::{Tick, TimerId};

/// No timer.
const NONE: u32 = u32::MAX;

/// A timer in the list of its queue.
struct Timer {
    deadline: Tick,
    value: u64,
    queue: u32,
    before: u32,
    behind: u32,
}

/// The timers with one delay. There is at least one.
struct Queue {
    delay: Tick,
    first: u32,
    last: u32,
}

/// All queues.
#[derive(Default)]
pub(crate) struct Queues {
    timers: Arena<Timer>,
    queues: Arena<Queue>,
    by_delay: FxHashMap<Tick, u32>,
    /// The queues by the deadline of their first timer, then by delay, the longest first.
    heads: BTreeMap<(Tick, Reverse<Tick>), u32>,
    now: Tick,
}

impl Queues {
    #[inline]
    fn timer(&mut self, place: u32) -> &mut Timer {
        self.timers.at_mut(place).expect("links lead to live timers").1
    }

    #[inline]
    fn queue(&mut self, queue: u32) -> &mut Queue {
        self.queues.at_mut(queue).expect("a queue with a timer exists").1
    }

    /// Appends the timer at a place to the queue of its delay. Returns its links.
    #[inline]
    fn append(&mut self, place: u32, deadline: Tick, value: u64) -> Timer {
        let delay = deadline - self.now;
        let (queue, before) = match self.by_delay.entry(delay) {
            Entry::Occupied(queue) => {
                let queue = *queue.get();
                let last = mem::replace(&mut self.queue(queue).last, place);
                debug_assert!(self.timer(last).deadline <= deadline, "a queue is sorted");
                self.timer(last).behind = place;
                (queue, last)
            }
            Entry::Vacant(new) => {
                let queue = self.queues.insert(Queue { delay, first: place, last: place }).index();
                new.insert(queue);
                self.heads.insert((deadline, Reverse(delay)), queue);
                (queue, NONE)
            }
        };
        Timer { deadline, value, queue, before, behind: NONE }
    }

    /// Takes a timer out of its queue.
    #[inline]
    fn unlink(&mut self, deadline: Tick, queue: u32, before: u32, behind: u32) {
        if before == NONE {
            let delay = self.queue(queue).delay;
            self.heads.remove(&(deadline, Reverse(delay)));
            self.start_at(queue, delay, behind);
            return;
        }
        self.timer(before).behind = behind;
        if behind == NONE {
            self.queue(queue).last = before;
        } else {
            self.timer(behind).before = before;
        }
    }

    /// Makes a timer the first of a queue, or removes the queue if there is none. The queue is not
    /// among the heads.
    #[inline]
    fn start_at(&mut self, queue: u32, delay: Tick, first: u32) {
        if first == NONE {
            self.by_delay.remove(&delay);
            self.queues.remove_at(queue);
            return;
        }
        let head = self.timer(first);
        head.before = NONE;
        let deadline = head.deadline;
        self.queue(queue).first = first;
        self.heads.insert((deadline, Reverse(delay)), queue);
    }
}

impl Peer for Queues {
    const NAME: &'static str = "queue-per-delay";
    const PACKAGE: Option<&'static str> = None;
    type Handle = TimerId;

    fn new(_: usize) -> Self {
        Self::default()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        let place = self.timers.next_id().index();
        let timer = self.append(place, deadline.max(self.now), value);
        self.timers.insert(timer)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<TimerId>) -> Option<u64> {
        let ((), timer) = self.timers.remove((*kept)?)?;
        self.unlink(timer.deadline, timer.queue, timer.before, timer.behind);
        Some(timer.value)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<TimerId>, deadline: Tick) -> bool {
        let Some(id) = *kept else { return false };
        let Some(&Timer { deadline: old, value, queue, before, behind }) = self.timers.get(id)
        else {
            return false;
        };
        self.unlink(old, queue, before, behind);
        *self.timer(id.index()) = self.append(id.index(), deadline.max(self.now), value);
        true
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        self.now = now;
        while let Some(head) = self.heads.first_entry().filter(|head| head.key().0 <= now) {
            let ((deadline, Reverse(delay)), queue) = head.remove_entry();
            let mut first = self.queue(queue).first;
            // Several timers that are due in one tick cost one operation on the map.
            while self.timers.at(first).is_some_and(|timer| timer.deadline == deadline) {
                let Some((_, timer)) = self.timers.remove_at(first) else { break };
                first = timer.behind;
                fire(timer.value);
            }
            self.start_at(queue, delay, first);
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.heads.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}
