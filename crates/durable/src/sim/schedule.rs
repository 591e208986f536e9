//! Chooses the part that runs next, and lets time pass.

use super::fault::Action;
use super::program::{Killed, Part, Program};
use super::world::{Frame, ProgramState, State, World, nanos};
use crate::store::{Entry, Key, Timestamp};
use crate::{Durable, Handlers, StartError, Timers};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

enum Turn {
    Start(usize),
    Run(Arc<Program>, Part),
}

/// The result of [`World::turn`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turned {
    /// A part of a program has run.
    Ran,
    /// Nothing was ready, and time has passed.
    Passed,
    /// Nothing will ever happen.
    Stuck,
}

impl World {
    /// Waits in a call of a program until `is_done`, but for at most `longest` if it is given,
    /// while other parts run. Unwinds if the program is killed meanwhile.
    pub(super) fn wait_in(
        &self,
        program: &Program,
        is_done: &dyn Fn() -> bool,
        longest: Option<Duration>,
    ) {
        let until = longest.map_or(u64::MAX, |longest| self.nanos().saturating_add(nanos(longest)));
        loop {
            Self::stop_if_dead(program);
            // While the process stands still, so do its calls.
            let stalls_until = program.stalls_until.load(Ordering::Relaxed);
            let stalls = stalls_until > self.nanos();
            // A dead program is here only while it unwinds, in a destructor.
            if !stalls && (is_done() || self.nanos() >= until) || program.is_dead() {
                return;
            }
            let turned = self.turn(if stalls { stalls_until } else { until });
            assert!(turned != Turned::Stuck, "a call waits for something that no program does");
        }
    }

    /// Lets a part run that is ready, chosen by the seed. If none is, moves the time to when one
    /// will be, but not beyond `until`.
    fn turn(&self, until: u64) -> Turned {
        let (now, first) = (self.nanos(), self.first_due());
        let mut state = self.0.state.lock();
        let (mut ready, mut next) = (Vec::new(), u64::MAX);
        for (number, its) in state.programs.iter().enumerate() {
            let mut add = |at, turn: Turn| match at <= now {
                true => ready.push(turn),
                false => next = next.min(at),
            };
            match its {
                ProgramState::Down(at) => add(*at, Turn::Start(number)),
                ProgramState::Up(program) => Part::ALL.into_iter().for_each(|part| {
                    add(program.due(part, first), Turn::Run(Arc::clone(program), part));
                }),
            }
        }
        if ready.is_empty() {
            drop(state);
            return self.pass_until(next.min(until));
        }
        let turn = ready.swap_remove(state.rng.usize(0..ready.len()));
        drop(state);
        match turn {
            Turn::Start(number) => self.start(number),
            Turn::Run(program, part) => {
                self.inside(&program, || program.run(self, part));
            }
        }
        Turned::Ran
    }

    /// Nothing is ready until this time. A fault may strike a program that rests.
    fn pass_until(&self, until: u64) -> Turned {
        if until == u64::MAX {
            return Turned::Stuck;
        }
        let mut state = self.0.state.lock();
        let State { programs, faults, .. } = &mut *state;
        faults.set_day(self.elapsed().as_secs() / 86_400);
        let struck = programs.iter().skip(1).find_map(|its| {
            let ProgramState::Up(program) = its else { return None };
            let strike = faults.strike(program.number, (Action::Rest, false), program.lease)?;
            Some((Arc::clone(program), strike))
        });
        drop(state);
        self.set(until);
        if let Some((program, strike)) = &struck {
            self.hit(program, strike, false);
        }
        Turned::Passed
    }

    /// Runs code of a program, until it ends or the program is killed.
    fn inside<T>(&self, program: &Arc<Program>, code: impl FnOnce() -> T) -> Option<T> {
        let depth = self.push(program);
        self.caught(depth, code)
    }

    pub(super) fn push(&self, program: &Arc<Program>) -> usize {
        let mut state = self.0.state.lock();
        state.frames.push(Frame { program: Arc::clone(program), run: None });
        state.frames.len() - 1
    }

    /// Calls code, after which `depth` calls are in progress. `None` if its program was killed.
    fn caught<T>(&self, depth: usize, code: impl FnOnce() -> T) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(code));
        self.0.state.lock().frames.truncate(depth);
        match result {
            Ok(value) => Some(value),
            Err(payload) if payload.is::<Killed>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    fn start(&self, number: usize) {
        let depth = {
            let mut state = self.0.state.lock();
            state.programs[number] = ProgramState::Down(u64::MAX);
            state.frames.len()
        };
        let builder = match number.checked_sub(1) {
            None => Durable::builder(Handlers::new()),
            Some(setup) => (self.0.setups[setup])(self),
        };
        let started = match self.caught(depth, || Program::start(self, number, builder)) {
            // Killed: `kill` has set the state.
            None => return,
            Some(Ok(program)) => ProgramState::Up(program),
            // As a supervisor does.
            Some(Err(StartError::Store(error))) if error.is_transient() => {
                ProgramState::Down(self.nanos() + 1_000_000_000)
            }
            Some(Err(error)) => panic!("program {number} cannot start: {error}"),
        };
        self.note(number, format_args!("has started"));
        self.0.state.lock().programs[number] = started;
    }

    pub(super) fn start_client(&self) -> Timers {
        self.start(0);
        let client = self.0.state.lock().up().next().map(Arc::clone);
        let client = client.unwrap_or_else(|| unreachable!("no fault strikes the client"));
        self.push(&client);
        client.timers.lock().clone().unwrap_or_else(|| unreachable!("it is not killed"))
    }

    /// Lets all jobs run that are due before `until`, without faults at the end. Then checks that
    /// none is lost.
    pub(super) fn settle(&self, until: Duration) {
        let until = nanos(until);
        let client = self.current();
        let is_over = |turned| match turned {
            Turned::Ran => false,
            Turned::Passed => !self.has_jobs(),
            Turned::Stuck => true,
        };
        while self.nanos() < until {
            Self::stop_if_dead(&client);
            if is_over(self.turn(until)) {
                break;
            }
        }
        self.0.state.lock().faults.end();
        let (end, _) = self.store_clock().now();
        let (mut last, mut before) = (self.nanos(), usize::MAX);
        loop {
            Self::stop_if_dead(&client);
            let overdue = self.overdue(end);
            if overdue.len() < before {
                (last, before) = (self.nanos(), overdue.len());
            }
            if overdue.is_empty() || self.nanos() > last + self.patience() {
                let rows = self.rows().into_iter().map(|row| row.key).collect();
                self.promises(|promises| promises.finish(&rows, &overdue));
                return Self::stop_if_dead(&client);
            }
            let until = self.nanos() + 1_000_000_000;
            while self.nanos() < until && self.turn(until) != Turned::Stuck {
                Self::stop_if_dead(&client);
            }
        }
    }

    /// How long no job may be handed out although some are due. A program may be down or stall, and
    /// a job may be leased, for up to four leases each.
    fn patience(&self) -> u64 {
        let state = self.0.state.lock();
        let lease = state.up().map(|program| program.lease).max();
        nanos(lease.unwrap_or_default()) * 16 + 120_000_000_000
    }

    fn rows(&self) -> Vec<Entry> {
        self.look(|store| store.scan(None, usize::MAX))
    }

    fn has_jobs(&self) -> bool {
        // A row that is not reserved is among the first few, since each pauses another kind.
        let rows = self.look(|store| store.scan(None, 64));
        rows.iter().any(|row| !row.key.is_reserved())
    }

    /// When a job of a kind that has a handler is due, in nanoseconds of the world.
    fn first_due(&self) -> u64 {
        let first = self.look(|store| store.kinds()).into_iter().map(|(_, first)| first).min();
        self.0.clock.of_wall(first.map_or(u64::MAX, Timestamp::as_millis))
    }

    /// The jobs that were visible at `end`, and that a program should have run since.
    fn overdue(&self, end: Timestamp) -> Vec<Key> {
        let mut rows = self.rows();
        let paused = rows.iter().filter_map(|row| row.paused().map(str::to_owned));
        let paused: BTreeSet<_> = paused.collect();
        let state = self.0.state.lock();
        rows.retain(|row| row.visible_at <= end && state.kinds.contains(&row.kind));
        rows.retain(|row| !paused.contains(&*row.kind) && !paused.contains(""));
        rows.into_iter().map(|row| row.key).collect()
    }

    /// Drops all programs, which hold references to this world.
    pub(super) fn end(&self) {
        let mut state = self.0.state.lock();
        let up: Vec<_> = state.up().cloned().collect();
        state.programs.clear();
        state.frames.clear();
        drop(state);
        up.iter().for_each(|program| program.kill());
        drop(self.0.store.lock().take());
    }
}
