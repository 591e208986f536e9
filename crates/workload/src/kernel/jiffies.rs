//! The kernel's clock: jiffies, which may wrap around, and their length.

use super::convert::KernelError;
use super::parse::{Event, Kind};

/// The settings of `CONFIG_HZ` on x86 and ARM.
const KERNEL_HZ: [u32; 6] = [100, 200, 250, 300, 500, 1000];
/// The relative error that a measured HZ may have. Short recordings are less exact.
const HZ_TOLERANCE: f64 = 0.1;

/// Counts jiffies since the first event that has them. The jiffies of a 32-bit kernel wrap around
/// at 2^32, five minutes after boot and then every few weeks. So each time is counted from the
/// previous one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jiffies {
    is_32_bit: bool,
    last: u64,
    /// The same time, counted from the first.
    since_first: i64,
}

impl Jiffies {
    /// `None` if no event has jiffies.
    pub(super) fn new(events: &[Event]) -> Option<Self> {
        let mut printed = events.iter().filter_map(|event| match event.kind {
            Kind::Start { expires: value, .. } | Kind::Expire { now: value } => Some(value),
            Kind::Cancel => None,
        });
        // A 64-bit kernel also prints only such values in its first five minutes. Its events are
        // then less than 2^31 jiffies apart, so treating it as a 32-bit kernel gives the same
        // result.
        let is_32_bit = printed.all(|value| u32::try_from(value).is_ok());
        let last = events.iter().find_map(Event::now)?;
        Some(Self { is_32_bit, last, since_first: 0 })
    }

    /// The time of an event; `None` for a cancellation.
    pub(super) fn at(&mut self, event: &Event) -> Option<i64> {
        let now = event.now()?;
        // Events of different CPUs may be out of order, so this may be negative.
        let passed = now.wrapping_sub(self.last);
        let passed = if self.is_32_bit { i64::from(passed as u32 as i32) } else { passed as i64 };
        self.last = now;
        self.since_first = self.since_first.saturating_add(passed);
        Some(self.since_first)
    }
}

impl Event {
    /// The jiffies at the event. For a 32-bit kernel only the lower half is valid.
    fn now(&self) -> Option<u64> {
        match self.kind {
            Kind::Start { expires, timeout } => Some(expires.wrapping_sub(timeout as u64)),
            Kind::Expire { now } => Some(now),
            Kind::Cancel => None,
        }
    }
}

/// Jiffies per second, measured from the time stamps.
pub(super) fn measure_hz(events: &[Event], mut jiffies: Jiffies) -> Result<u32, KernelError> {
    let mut clock = events.iter().filter_map(|event| Some((event.at, jiffies.at(event)?)));
    let measured = match (clock.next(), clock.last()) {
        (Some((from, first)), Some((to, last))) if to > from => {
            last.saturating_sub(first) as f64 / (to - from)
        }
        _ => 0.0,
    };
    let error = |hz: u32| (measured / f64::from(hz) - 1.0).abs();
    let nearest = KERNEL_HZ.into_iter().min_by(|a, b| error(*a).total_cmp(&error(*b)));
    nearest.filter(|hz| error(*hz) < HZ_TOLERANCE).ok_or(KernelError::Hz { measured })
}
