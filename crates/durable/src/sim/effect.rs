//! The calls of handlers, and their effects.

use super::fault::Place;
use super::job::Broken;
use super::program::{Killed, Program};
use super::promise::Run;
use super::world::{Clock, World};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

impl World {
    pub(super) fn call_begins(&self, program: &Arc<Program>, run: &Run, is_lost: bool) {
        Self::stop_if_dead(program);
        self.note(program.number, format_args!("calls the handler of {run}"));
        self.0.state.lock().runs += 1;
        self.promises(|promises| promises.enters(program.number, run, is_lost));
        self.within(Some(run), || {
            self.strike(program, Place::Handler(run.job.kind.clone()), false).unwrap_or_default();
        });
    }

    pub(super) fn call_ends(&self, program: &Arc<Program>, run: &Run, succeeded: bool) {
        let how = if succeeded { "succeeded" } else { "failed" };
        self.note(program.number, format_args!("{run}: {how}"));
        self.0.state.lock().promises.leaves(program.number, run, succeeded);
        self.strike(program, Place::Handler(run.job.kind.clone()), true).unwrap_or_default();
    }

    /// The handler has panicked, or its future was dropped.
    pub(super) fn call_failed(&self, program: &Arc<Program>, run: &Run) {
        self.note(program.number, format_args!("{run}: panicked or was dropped"));
        self.0.state.lock().promises.leaves(program.number, run, false);
    }

    /// Calls code of a run.
    pub(super) fn within<T>(&self, run: Option<&Run>, code: impl FnOnce() -> T) -> T {
        let set = |run| {
            let frame = &mut self.0.state.lock().frames;
            frame.last_mut().map(|frame| std::mem::replace(&mut frame.run, run))
        };
        let before = set(run.cloned());
        let value = code();
        set(before.flatten());
        value
    }

    /// Reports an effect of a handler that has no idempotency key, such as `world.effect("charge",
    /// order)`. The program may be killed before and after it. The effect must happen only once for
    /// each `of`. If it happens twice, the simulation has failed.
    pub fn effect(&self, name: &str, of: impl fmt::Display) {
        self.take_effect(name, of.to_string(), None);
    }

    /// Like [`effect`](Self::effect), with an idempotency key. If an effect of this name and
    /// key took place before, this call has no effect and returns `false`.
    pub fn effect_with_key(
        &self,
        name: &str,
        of: impl fmt::Display,
        key: impl fmt::Display,
    ) -> bool {
        self.take_effect(name, of.to_string(), Some(key.to_string()))
    }

    fn take_effect(&self, name: &str, of: String, key: Option<String>) -> bool {
        let program = self.current();
        let place = Place::Effect(name.into());
        // A failure of the store does not concern the effect.
        self.strike(&program, place.clone(), false).unwrap_or_default();
        let is_new = !program.is_dead() && self.record(&program, name, of, key);
        self.strike(&program, place, true).unwrap_or_default();
        is_new
    }

    fn record(&self, program: &Program, name: &str, of: String, key: Option<String>) -> bool {
        let mut state = self.0.state.lock();
        let run = state.frames.last().and_then(|frame| frame.run.as_ref());
        let run = run.map_or_else(|| "no run".to_owned(), Run::to_string);
        let is_new = key.iter().all(|key| state.seen.insert((name.to_owned(), key.clone())));
        let with = key
            .map_or("without an idempotency key".to_owned(), |key| format!("with the key {key}"));
        let line = format!("{} in program {}, {run}, {with}", Clock(self.nanos()), program.number);
        let mut broken = None;
        if is_new {
            let times = state.effects.entry((name.to_owned(), of.clone())).or_default();
            times.push(line);
            let how = || format!("'{name}' of '{of}' took place twice:\n  {}", times.join("\n  "));
            let how = (times.len() > 1).then(how);
            broken = how.map(|how| Broken { promise: "an effect that must happen once", how });
        }
        drop(state);
        let what = if is_new { "takes place" } else { "is ignored, its key was seen before" };
        self.note(program.number, format_args!("effect '{name}' of '{of}' {what}"));
        broken.into_iter().for_each(|broken| self.break_off(broken));
        is_new
    }

    /// A moment at which the program may be killed or stall, for example between two calls of your
    /// code that are no effects.
    pub fn point(&self, name: &str) {
        let place = Place::Effect(name.into());
        self.strike(&self.current(), place, false).unwrap_or_default();
    }

    /// Kills the program that calls it, as a handler may do that uses up the memory. It is started
    /// again a second later.
    ///
    /// # Panics
    ///
    /// If the client calls it.
    pub fn kill(&self) -> ! {
        let program = self.current();
        assert!(program.number > 0, "the client cannot be killed");
        self.note(program.number, format_args!("kills itself"));
        if !program.is_dead() {
            self.kill_for(&program, Duration::from_secs(1));
        }
        resume_unwind(Box::new(Killed))
    }

    /// Lets time pass: in a handler that works for this time, or in the client. Other programs work
    /// meanwhile. An async handler awaits [`sleep`](Self::sleep) instead.
    pub fn pass(&self, time: Duration) {
        self.wait_in(&self.current(), &|| false, Some(time));
    }

    /// Lets time pass in an async handler.
    ///
    /// # Panics
    ///
    /// Outside of a handler.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        let program = self.current();
        Self::stop_if_dead(&program);
        let timers = program.timers();
        let sleep = timers.and_then(|its| Some(its.shared().waiting.service()?.sleep(time)));
        let sleep = sleep.expect("only async handlers sleep, others call `World::pass`");
        async move { sleep.await.unwrap_or_default() }
    }
}
