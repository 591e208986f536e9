//! Converts the text of ftrace about the Linux kernel's timers into a stream.
//!
//! Linux's timer wheel has three tracepoints, which `scripts/record-kernel-timers` records:
//!
//! ```text
//!  nginx-8396 [001] d.s3. 2044.960864: timer_cancel: timer=ffff8881220ebbf8
//!  nginx-8396 [001] d.s3. 2044.960865: timer_start: timer=ffff8881220ebbf8
//!                         function=tcp_delack_timer expires=4295403489 [timeout=10] ...
//! <idle>-0    [000] ..s1. 2044.500051: timer_expire_entry: timer=ffffc9000007fdf8
//!                         function=process_timeout now=4295403364 ...
//! ```
//!
//! They are converted as follows:
//!
//! | kernel | stream |
//! |---|---|
//! | jiffies have changed since the last event | [`Advance`](Op::Advance); a tick is a jiffy, and the first jiffy seen is tick 0 |
//! | `timer_start` of a timer that is not live | [`Insert`](Op::Insert), due at `expires` |
//! | `timer_start` of a live timer | [`Reschedule`](Op::Reschedule) |
//! | `timer_cancel`, then `timer_start` of the same timer on that CPU | the two halves of `mod_timer`: one [`Reschedule`](Op::Reschedule) |
//! | `timer_cancel`, then `timer_expire_entry` of the same timer | the two halves of an expiry: no operation, since the clock fires the timer |
//! | any other `timer_cancel` | [`Cancel`](Op::Cancel) |
//!
//! The text is that of ftrace's `trace` and `trace_pipe`, of `trace-cmd report`, or of
//! `perf script`. Other events in it, such as those of high-resolution timers (`hrtimer_start`),
//! are ignored. The jiffies of a 32-bit kernel may wrap around.
//!
//! A label replaces the address of a timer, so the stream contains no address.
//!
//! # Differences from the recorded events
//!
//! * In the stream a timer fires at its deadline. The kernel fires it up to an eighth of its delay
//!   later, by design. If it is cancelled in between, the cancellation is left out; if it is moved
//!   in between, the move becomes an insertion.
//! * If a timer was started before the recording, its cancellation is left out.
//! * `mod_timer` to a time in the same slot of the kernel's wheel is not traced.
//! * Deferrable and pinned timers are converted like all others.
//!
//! [`Counts`] has the number of each of these.

mod convert;
mod jiffies;
mod parse;

pub use convert::{Counts, KernelError, Options, Recording, convert};

#[cfg(doc)]
use crate::Op;
