//! How far a long run is, and how much time is left: a bar on a terminal, elsewhere a line each
//! half minute.
//!
//! The caller says how long it expects each part to take. Such guesses are wrong by a factor that
//! is much the same for all parts, that of the machine; so what is left is multiplied by what the
//! parts that are done have shown. The estimate converges as the run goes on.

use crate::console::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Where there is no terminal, a line is printed this often.
const EVERY: Duration = Duration::from_secs(30);

/// A share of the expected time before which nothing is known of the machine.
const TELLING: f64 = 0.02;

/// What is known of a run that is under way.
#[derive(Debug)]
struct State {
    begun: Instant,
    expected: Duration,
    /// Of the expected time, what is done.
    done: Duration,
    message: String,
}

impl State {
    fn share(&self) -> f64 {
        (self.done.as_secs_f64() / self.expected.as_secs_f64().max(1e-9)).clamp(0.0, 1.0)
    }

    /// The time that is left after so much of it; `None` while too little is done to tell.
    fn left(&self, gone: Duration) -> Option<Duration> {
        let share = self.share();
        (share >= TELLING).then(|| gone.mul_f64((1.0 - share) / share))
    }

    fn line(&self) -> String {
        let gone = self.begun.elapsed();
        let left = self
            .left(gone)
            .map_or_else(String::new, |left| format!(", about {} left", minutes(left)));
        format!("{:3.0} %  {} gone{left}  {}", 100.0 * self.share(), minutes(gone), self.message)
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// A run that is under way.
#[derive(Debug)]
pub struct Progress {
    state: Arc<Mutex<State>>,
    /// Of the expected time, what the parts before this one took.
    finished: Duration,
    bar: ProgressBar,
    /// Ends the thread that prints lines, if there is one, by being dropped.
    _lines: Option<Sender<()>>,
}

impl Progress {
    /// A run that is expected to take this long.
    pub fn new(expected: Duration) -> Self {
        let state =
            State { begun: Instant::now(), expected, done: Duration::ZERO, message: String::new() };
        let state = Arc::new(Mutex::new(state));
        let is_terminal = stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(1_000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let lines = (!is_terminal).then(|| print_lines(Arc::clone(&state)));
        Self { state, finished: Duration::ZERO, bar, _lines: lines }
    }

    /// Says what is under way.
    pub fn say(&self, message: String) {
        self.update(|state| state.message = message);
    }

    /// A part is done that was expected to take this long, however long it took.
    pub fn finish_part(&mut self, expected: Duration) {
        self.finished += expected;
        let finished = self.finished;
        self.update(|state| state.done = finished);
    }

    /// Within a part: `share` of `expected` is done.
    pub fn within_part(&self, expected: Duration, share: f64) {
        let done = self.finished + expected.mul_f64(share.clamp(0.0, 1.0));
        self.update(|state| state.done = done);
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
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

/// Starts a thread that says now and then how far the run is, until the sender is dropped.
fn print_lines(state: Arc<Mutex<State>>) -> Sender<()> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            say(state.lock().unwrap_or_else(PoisonError::into_inner).line());
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_was_done() {
        let mut progress = Progress::new(Duration::from_secs(100));
        let left = |progress: &Progress, gone| {
            progress
                .state
                .lock()
                .unwrap()
                .left(Duration::from_secs(gone))
                .map(|left| left.as_secs())
        };
        assert_eq!(left(&progress, 1), None, "nothing is known yet");
        progress.within_part(Duration::from_secs(40), 0.5);
        assert_eq!(left(&progress, 40), Some(160), "twice as slow as was expected");
        progress.finish_part(Duration::from_secs(40));
        assert_eq!(left(&progress, 80), Some(120));
        progress.finish_part(Duration::from_secs(60));
        assert_eq!(left(&progress, 200), Some(0));
        progress.finish_part(Duration::from_secs(60));
        assert_eq!(left(&progress, 200), Some(0), "more than was expected");
    }

    #[test]
    fn a_line_says_how_far_it_is() {
        let progress = Progress::new(Duration::from_secs(10));
        progress.say("round 2 of 5".to_owned());
        progress.within_part(Duration::from_secs(10), 0.5);
        let line = progress.state.lock().unwrap().line();
        assert!(line.starts_with(" 50 %  0:00 gone, about 0:00 left  round 2 of 5"), "{line}");
    }
}
