//! The Linux kernel's own timers, as ftrace prints them, made into a stream.
//!
//! Linux has three tracepoints on its timer wheel, and `scripts/record-kernel-timers` records them:
//!
//! ```text
//!  nginx-8396 [001] d.s3. 2044.960864: timer_cancel: timer=ffff8881220ebbf8
//!  nginx-8396 [001] d.s3. 2044.960865: timer_start: timer=ffff8881220ebbf8
//!                         function=tcp_delack_timer expires=4295403489 [timeout=10] ...
//! <idle>-0    [000] ..s1. 2044.500051: timer_expire_entry: timer=ffffc9000007fdf8
//!                         function=process_timeout now=4295403364 ...
//! ```
//!
//! What they mean here:
//!
//! | kernel | stream |
//! |---|---|
//! | jiffies moved since the last event | [`Advance`](Op::Advance); a tick is a jiffy, the first one seen is tick 0 |
//! | `timer_start` of a timer that is not live | [`Insert`](Op::Insert), due at `expires` |
//! | `timer_start` of a live timer | [`Reschedule`](Op::Reschedule) |
//! | `timer_cancel`, then on that CPU `timer_start` of the same timer | the two halves of `mod_timer`: one [`Reschedule`](Op::Reschedule) |
//! | `timer_cancel`, then of that timer `timer_expire_entry` | the two halves of an expiry: nothing, the clock does it |
//! | any other `timer_cancel` | [`Cancel`](Op::Cancel) |
//!
//! The text is that of ftrace's `trace` and `trace_pipe`, of `trace-cmd report`, or of
//! `perf script`. Other events in it, such as those of high-resolution timers (`hrtimer_start`),
//! are left out. The jiffies of a 32-bit kernel may wrap around.
//!
//! A label stands for the address of a timer; no address gets into the stream.
//!
//! # What differs from what happened
//!
//! * Here a timer fires at its deadline. The kernel fires it up to an eighth of its delay later, by
//!   design, and may be asked to cancel or move it in between: such a cancellation is left out,
//!   such a move becomes an insertion.
//! * A timer that was started before the recording is unknown, and its cancellation is left out.
//! * `mod_timer` to an instant in the same slot of the kernel's wheel is not traced at all.
//! * Deferrable and pinned timers are timers like all others here.
//!
//! [`Counts`] has how often each of these came about.

mod convert;
mod jiffies;
mod parse;

pub use convert::{Counts, KernelError, Options, Recording, convert};

#[cfg(doc)]
use crate::Op;
