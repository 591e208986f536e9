//! Two rows without a facility: how long the machine itself keeps a thread from running. A thread
//! only notes when each job would be due, while a producer makes no calls.

use crate::experiments::Experiment::{self, Fires, Fires300k};
use crate::experiments::{Stream, play_machine};
use crate::load::Load;
use crate::targets::SLEEPER;
use std::hint::spin_loop;
use std::thread;
use std::time::Duration;
use wheelhouse_frame::Contender;

pub(super) fn rows() -> [Contender<Experiment>; 2] {
    [
        // This shows stalls of a running thread. No facility can be better.
        row(
            "the-machine",
            "no facility: a thread that only reads the clock sees when each job is due",
            |_| spin_loop(),
        ),
        // As a facility does. This also shows how late the system wakes a thread, with the default
        // timer slack of Linux.
        row(SLEEPER, "no facility: a thread that only sleeps until each job is due", thread::sleep),
    ]
}

fn row(name: &'static str, about: &'static str, wait: fn(Duration)) -> Contender<Experiment> {
    let is_played = |it| matches!(it, Fires | Fires300k);
    let play = move |experiment, load: &Load| {
        if !is_played(experiment) {
            return Ok(Ok(Vec::new()));
        }
        play_machine(load, Stream::of(experiment, load), wait)
    };
    Contender::new(name, about, play).only(is_played)
}
