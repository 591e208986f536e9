//! The progress of a long run, and how much time is left: a bar on a terminal, otherwise a line
//! every half minute.
//!
//! The caller states how long it expects each part to take. Such guesses are wrong by a factor that
//! depends on the machine and is similar for all parts. So the time that is left is scaled by the
//! factor that finished parts have shown, and the estimate converges during the run.

use crate::console::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Without a terminal, a line is printed this often.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// The share of the expected time after which the time that is left can be estimated.
const MIN_SHARE: f64 = 0.02;

/// A run in progress.
#[derive(Debug)]
pub struct Progress {
    /// Its length is the expected time in milliseconds, and its position how much of that is done.
    bar: ProgressBar,
    /// The expected time of the parts before the current one.
    finished: Duration,
    /// Dropping it ends the thread that prints lines, if there is one.
    _lines: Option<Sender<()>>,
}

impl Progress {
    /// A run that is expected to take this long.
    pub fn new(expected: Duration) -> Self {
        let length = (expected.as_millis() as u64).max(1);
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {times}  {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.with_key("times", |state: &ProgressState, out: &mut dyn Write| {
            // Writing to the display cannot fail.
            let _ = out.write_str(&times(state.pos(), state.len(), state.elapsed()));
        }));
        let lines = (!stderr().is_terminal()).then(|| print_lines(bar.clone()));
        Self { bar, finished: Duration::ZERO, _lines: lines }
    }

    /// Shows what is being done.
    pub fn say(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Ends a part that was expected to take this long, however long it took.
    pub fn finish_part(&mut self, expected: Duration) {
        self.finished += expected;
        self.within_part(Duration::ZERO, 0.0);
    }

    /// Within a part that is expected to take `expected`: `share` of it is done.
    pub fn within_part(&self, expected: Duration, share: f64) {
        let done = self.finished + expected.mul_f64(share.clamp(0.0, 1.0));
        self.bar.set_position(done.as_millis() as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The share that is done, the elapsed time, and the time that is left, if enough is done to
/// estimate it.
fn times(done: u64, expected: Option<u64>, elapsed: Duration) -> String {
    let share = (done as f64 / expected.unwrap_or(1) as f64).clamp(0.0, 1.0);
    let left = (share >= MIN_SHARE).then(|| elapsed.mul_f64((1.0 - share) / share));
    let left = left.map_or(String::new(), |left| format!(", about {} left", minutes(left)));
    format!("{:3.0} %  {} elapsed{left}", 100.0 * share, minutes(elapsed))
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Starts a thread that prints the progress at intervals, until the sender is dropped.
fn print_lines(bar: ProgressBar) -> Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        while ended.recv_timeout(LINE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let times = times(bar.position(), bar.length(), bar.elapsed());
            say(format_args!("{times}  {}", bar.message()));
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_follows_from_finished_parts() {
        let mut progress = Progress::new(Duration::from_secs(100));
        let shown = |progress: &Progress, elapsed| {
            let bar = &progress.bar;
            times(bar.position(), bar.length(), Duration::from_secs(elapsed))
        };
        assert_eq!(shown(&progress, 1), "  0 %  0:01 elapsed", "nothing is known yet");
        progress.within_part(Duration::from_secs(40), 0.5);
        let slow = " 20 %  0:40 elapsed, about 2:40 left";
        assert_eq!(shown(&progress, 40), slow, "twice as slow as expected");
        progress.finish_part(Duration::from_secs(40));
        assert_eq!(shown(&progress, 80), " 40 %  1:20 elapsed, about 2:00 left");
        progress.finish_part(Duration::from_secs(120));
        let over = "100 %  3:20 elapsed, about 0:00 left";
        assert_eq!(shown(&progress, 200), over, "more than expected");
    }
}
