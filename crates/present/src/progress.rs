//! The progress of a long run, and how much time is left: a bar on a terminal, otherwise a line
//! every half minute.
//!
//! The caller states how long it expects each part to take. Such guesses are wrong by a factor that
//! depends on the machine and is similar for all parts. So the time that is left is scaled by the
//! factor that finished parts have shown, and the estimate converges during the run.

use crate::console::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Without a terminal, a line is printed this often.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// The share of the expected time after which the time that is left can be estimated.
const MIN_SHARE: f64 = 0.02;

/// The state of a run in progress.
#[derive(Debug)]
struct ProgressState {
    started: Instant,
    expected: Duration,
    /// How much of the expected time is done.
    done: Duration,
    message: String,
}

impl ProgressState {
    fn share(&self) -> f64 {
        (self.done.as_secs_f64() / self.expected.as_secs_f64().max(1e-9)).clamp(0.0, 1.0)
    }

    /// The time that is left after `elapsed`; `None` while too little is done to estimate it.
    fn remaining(&self, elapsed: Duration) -> Option<Duration> {
        let share = self.share();
        (share >= MIN_SHARE).then(|| elapsed.mul_f64((1.0 - share) / share))
    }

    fn line(&self) -> String {
        let elapsed = self.started.elapsed();
        let remaining = self
            .remaining(elapsed)
            .map_or_else(String::new, |remaining| format!(", about {} left", minutes(remaining)));
        format!(
            "{:3.0} %  {} elapsed{remaining}  {}",
            100.0 * self.share(),
            minutes(elapsed),
            self.message
        )
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// A run in progress.
#[derive(Debug)]
pub struct Progress {
    state: Arc<Mutex<ProgressState>>,
    /// The expected time of the parts before the current one.
    finished: Duration,
    bar: ProgressBar,
    /// Dropping it ends the thread that prints lines, if there is one.
    _lines: Option<Sender<()>>,
}

impl Progress {
    /// A run that is expected to take this long.
    pub fn new(expected: Duration) -> Self {
        let state = ProgressState {
            started: Instant::now(),
            expected,
            done: Duration::ZERO,
            message: String::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let is_terminal = stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(1_000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let lines = (!is_terminal).then(|| print_lines(Arc::clone(&state)));
        Self { state, finished: Duration::ZERO, bar, _lines: lines }
    }

    /// Shows what is being done.
    pub fn say(&self, message: String) {
        self.update(|state| state.message = message);
    }

    /// Ends a part that was expected to take this long, however long it took.
    pub fn finish_part(&mut self, expected: Duration) {
        self.finished += expected;
        let finished = self.finished;
        self.update(|state| state.done = finished);
    }

    /// Within a part that is expected to take `expected`: `share` of it is done.
    pub fn within_part(&self, expected: Duration, share: f64) {
        let done = self.finished + expected.mul_f64(share.clamp(0.0, 1.0));
        self.update(|state| state.done = done);
    }

    fn update(&self, change: impl FnOnce(&mut ProgressState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        self.bar.set_position((1_000.0 * state.share()) as u64);
        self.bar.set_message(state.line());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Starts a thread that prints the progress at intervals, until the sender is dropped.
fn print_lines(state: Arc<Mutex<ProgressState>>) -> Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        while ended.recv_timeout(LINE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            say(state.lock().unwrap_or_else(PoisonError::into_inner).line());
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
        let remaining = |progress: &Progress, elapsed| {
            progress
                .state
                .lock()
                .unwrap()
                .remaining(Duration::from_secs(elapsed))
                .map(|remaining| remaining.as_secs())
        };
        assert_eq!(remaining(&progress, 1), None, "nothing is known yet");
        progress.within_part(Duration::from_secs(40), 0.5);
        assert_eq!(remaining(&progress, 40), Some(160), "twice as slow as expected");
        progress.finish_part(Duration::from_secs(40));
        assert_eq!(remaining(&progress, 80), Some(120));
        progress.finish_part(Duration::from_secs(60));
        assert_eq!(remaining(&progress, 200), Some(0));
        progress.finish_part(Duration::from_secs(60));
        assert_eq!(remaining(&progress, 200), Some(0), "more than expected");
    }

    #[test]
    fn a_line_shows_share_time_and_message() {
        let progress = Progress::new(Duration::from_secs(10));
        progress.say("round 2 of 5".to_owned());
        progress.within_part(Duration::from_secs(10), 0.5);
        let line = progress.state.lock().unwrap().line();
        assert!(line.starts_with(" 50 %  0:00 elapsed, about 0:00 left  round 2 of 5"), "{line}");
    }
}
