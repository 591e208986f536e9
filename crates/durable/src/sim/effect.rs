//! The calls of handlers, and their effects.

use super::fault::Action;
use super::job::Broken;
use super::program::{Killed, Program};
use super::promise::Run;
use super::world::{Clock, World};
use crate::drive::Parts;
use crate::handlers::Handler;
use crate::{DurableRun, Failure, Next};
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

impl World {
    fn within<T>(&self, run: Option<&Run>, code: impl FnOnce() -> T) -> T {
        let set = |run| {
            let frame = &mut self.0.state.lock().frames;
            frame.last_mut().map(|frame| std::mem::replace(&mut frame.run, run))
        };
        let before = set(run.cloned());
        let value = code();
        set(before.flatten());
        value
    }

    /// Reports an effect of a handler that has no idempotency key. The program may be killed before
    /// and after it. If it happens twice for the same `of`, the simulation has failed.
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
        let action = Action::Effect(name.into());
        // A failure of the store does not concern the effect.
        self.strike(&program, action.clone(), false).unwrap_or_default();
        let is_new = !program.is_dead() && self.record(&program, name, of, key);
        self.strike(&program, action, true).unwrap_or_default();
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
        let action = Action::Effect(name.into());
        self.strike(&self.current(), action, false).unwrap_or_default();
    }

    /// Kills the program that calls it, as a handler may do that uses up the memory. It is started
    /// again a second later. Panics if the client calls it.
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

    /// Lets time pass in an async handler. Panics outside of a handler.
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        let program = self.current();
        Self::stop_if_dead(&program);
        let sleep = program.waiting.lock().as_ref().map(|its| its.service.sleep(time));
        let sleep = sleep.expect("only async handlers sleep, others call `World::pass`");
        async move { sleep.await.unwrap_or_default() }
    }
}

impl Program {
    /// Lets the world see the calls of handlers, and the events.
    pub(super) fn watch(self: &Arc<Self>, world: &World, parts: &mut Parts) {
        for (kind, handler) in &mut parts.handlers {
            world.0.state.lock().kinds.insert(kind.clone());
            *handler = watched(world, self, handler);
        }
        let (world, number, theirs) = (world.clone(), self.number, parts.observer.take());
        parts.observer = Some(Arc::new(move |event| {
            world.note(number, format_args!("reports: {event}"));
            theirs.iter().for_each(|observer| observer(event));
        }));
    }
}

/// Lets the world see each call of a handler.
fn watched(world: &World, program: &Arc<Program>, handler: &Handler) -> Handler {
    let (world, program) = (world.clone(), Arc::clone(program));
    match handler.clone() {
        Handler::Sync(handler) => Handler::Sync(Arc::new(move |run, payload| {
            let call = Call::begin(&world, &program, run);
            let answer = call.within(|| handler(run, payload));
            call.end(answer)
        })),
        Handler::Async(handler) => Handler::Async(Arc::new(move |run, payload| {
            let call = Call::begin(&world, &program, &run);
            let mut future = call.within(|| handler(run, payload));
            Box::pin(async move {
                let poll = poll_fn(|context| call.within(|| future.as_mut().poll(context)));
                let answer = poll.await;
                drop(future);
                call.end(answer)
            })
        })),
    }
}

/// A call of a handler. If it is dropped before its end, the handler has panicked, or its future
/// was dropped.
struct Call {
    world: World,
    program: Arc<Program>,
    run: Option<Run>,
}

impl Call {
    fn begin(world: &World, program: &Arc<Program>, run: &DurableRun<'_>) -> Self {
        let is_lost = run.is_superseded();
        let run = Run { job: run.lease.name.clone(), token: run.lease.token };
        World::stop_if_dead(program);
        world.note(program.number, format_args!("calls the handler of {run}"));
        world.0.state.lock().runs += 1;
        world.promises(|promises| promises.enters(program.number, &run, is_lost));
        world.within(Some(&run), || {
            let action = Action::Handler(run.job.kind.clone());
            world.strike(program, action, false).unwrap_or_default();
        });
        Self { world: world.clone(), program: Arc::clone(program), run: Some(run) }
    }

    fn within<T>(&self, code: impl FnOnce() -> T) -> T {
        World::stop_if_dead(&self.program);
        self.world.within(self.run.as_ref(), code)
    }

    fn end(mut self, answer: Result<Next, Failure>) -> Result<Next, Failure> {
        let run = self.run.take().unwrap_or_else(|| unreachable!("it ends once"));
        self.leaves(&run, if answer.is_ok() { "succeeded" } else { "failed" }, answer.is_ok());
        let action = Action::Handler(run.job.kind);
        self.world.strike(&self.program, action, true).unwrap_or_default();
        answer
    }

    fn leaves(&self, run: &Run, how: &str, succeeded: bool) {
        let (world, number) = (&self.world, self.program.number);
        world.note(number, format_args!("{run}: {how}"));
        world.0.state.lock().promises.leaves(number, run, succeeded);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let run = self.run.take().filter(|_| !self.program.is_dead());
        run.iter().for_each(|run| self.leaves(run, "panicked or was dropped", false));
    }
}
