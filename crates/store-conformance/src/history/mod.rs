//! Histories: what several processes asked of one store and were answered, and a checker that
//! reads them.
//!
//! ```text
//!  process 1 ── calls ──▶ store ◀── calls ── process 2        stopped, killed, cut off
//!      └── log 1 ──┐                   ┌── log 2 ──┘          by the test
//!                  └────▶ checker ◀────┘
//! ```
//!
//! Each process ([`play`]) appends a line before each call and one after it, so that a log is whole
//! up to the moment of a kill. Keys are independent, and each is scheduled once, by one process; so
//! the [checker](check) is linear in the length of the logs, but for sorting the few events of a
//! key.
//!
//! Times of calls are the machine's wall clock; whether something is early is judged by the store's
//! clock alone.

mod check;
mod log;
mod play;
mod trial;

pub use check::{Checked, check};
pub use log::{Begin, Event, Log, read};
pub use play::{drain, play};
pub use trial::{child, trial};
