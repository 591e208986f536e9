//! kestrel-timer: two levels, by default 512 slots of 10 ms and 64 of a second. A slot is an array
//! of timers, which are found through a map of keys with generations. Each timer has a channel that
//! reports its end.

use crate::peer::{Ability, Peer};
use kestrel_timer::config::{BatchConfig, WheelConfig};
use kestrel_timer::task::TimerTaskWithCompletionNotifier;
use kestrel_timer::wheel::Wheel;
use kestrel_timer::{CompletionReceiver, TaskId, TimerTask};
use std::time::Duration;
use wheelhouse_core::Tick;

/// The wheel with its default configuration.
pub(crate) struct Kestrel(Wheel);

/// A timer: its value and the channel that reports its end.
pub(crate) struct Timer {
    id: TaskId,
    value: u64,
    _end: CompletionReceiver,
}

impl Kestrel {
    /// A tick is a millisecond here, and ten milliseconds in the wheel.
    fn now(&self) -> Tick {
        self.0.current_tick() * self.0.tick_duration().as_millis() as Tick
    }

    fn delay(&self, deadline: Tick) -> Duration {
        Duration::from_millis(deadline.saturating_sub(self.now()))
    }
}

impl Peer for Kestrel {
    const NAME: &'static str = "kestrel-timer";
    const LACKS: &'static [(Ability, &'static str)] = &[(
        Ability::Exact,
        "it fires late, by up to a tick of its upper level, so its answers differ from the \
         oracle's when the clock moves",
    )];
    type Handle = Timer;

    fn new(_: usize) -> Self {
        Self(Wheel::new(WheelConfig::default(), BatchConfig::default()).expect("its own defaults"))
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Timer {
        let handle = self.0.allocate_handle();
        let id = handle.task_id();
        let task = TimerTask::new_oneshot(self.delay(deadline), None);
        let (task, end) = TimerTaskWithCompletionNotifier::from_timer_task(task);
        self.0.insert(handle, task).expect("a handle of this wheel");
        Timer { id, value, _end: end }
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Timer>) -> Option<u64> {
        let handle = kept.take()?; // the receiver is no longer needed
        self.0.cancel(handle.id).is_ok_and(|was_live| was_live).then_some(handle.value)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Timer>, deadline: Tick) -> bool {
        let Some(handle) = kept else { return false };
        self.0.postpone(handle.id, self.delay(deadline), None).is_ok_and(|was_live| was_live)
    }

    /// Moves the clock of a wheel in which no timer is due. Timers that fire late are dropped.
    fn advance(&mut self, now: Tick, _: impl FnMut(u64)) {
        while self.now() < now {
            self.0.advance();
        }
    }
}
