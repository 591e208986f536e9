//! Histories: the logged calls of several processes on one store, and a checker that reads them.
//!
//! ```text
//!  process 1 ── calls ──▶ store ◀── calls ── process 2        stopped, killed, cut off
//!      └── log 1 ──┐                   ┌── log 2 ──┘          by the test
//!                  └────▶ checker ◀────┘
//! ```
//!
//! Each process ([`play`]) appends a line before each call and a line after it, so a log is
//! complete up to the moment of a kill. Keys are independent, and each key is scheduled once, by
//! one process. So the [checker](check) is linear in the length of the logs, except for sorting the
//! few events of a key.
//!
//! Times of calls are by the machine's wall clock. Only the store's clock decides whether a run is
//! early.

mod check;
mod log;
mod play;
mod trial;

pub use check::{Checked, check};
pub use log::{Begin, Event, Log, read};
pub use play::{drain, play};
pub use trial::{child, trial};
