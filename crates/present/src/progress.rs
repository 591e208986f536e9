//! How far a long run is, and how much time is left: on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar whose length is the expected time. Shows nothing where standard error is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    finished: Duration,
}

impl Progress {
    /// A bar for work that is expected to take this long.
    pub fn new(expected: Duration) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(expected.as_millis() as u64),
            ProgressDrawTarget::stderr(),
        );
        let style = ProgressStyle::with_template(
            "{bar:30} {percent:>3} %  {elapsed} gone, about {eta} left  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, finished: Duration::ZERO }
    }

    /// Says what is under way.
    pub fn say(&self, message: String) {
        self.bar.set_message(message);
    }

    /// A stretch is done that was expected to take this long, however long it took.
    pub fn finish_part(&mut self, expected: Duration) {
        self.finished += expected;
        self.bar.set_position(self.finished.as_millis() as u64);
    }

    /// Within a stretch: `share` of `expected` is done.
    pub fn within_part(&self, expected: Duration, share: f64) {
        self.bar.set_position(
            (self.finished + expected.mul_f64(share.clamp(0.0, 1.0))).as_millis() as u64,
        );
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
