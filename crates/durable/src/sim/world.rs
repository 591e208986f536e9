//! The world of a simulation: its time, its programs, and what happens to them.

use super::fault::{Action, Fault, Faults, Strike};
use super::job::Broken;
use super::program::{Killed, Program, SimClock};
use super::promise::{Promises, Run};
use super::{Connect, Setup};
use crate::simulated::Simulation;
use crate::store::{Key, Kind, Outcome, Store, StoreClock, StoreError, fnv_1a};
use fastrand::Rng;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, ThreadId, panicking};
use std::time::Duration;

/// The simulated world. Handlers report their effects to it, and the client lets time pass in it.
/// Cheap to clone. Its methods must be called on the thread of the simulation.
#[derive(Clone)]
pub struct World(pub(super) Arc<Inner>);

pub(super) struct Inner {
    thread: ThreadId,
    pub(super) clock: SimClock,
    store_clock: StoreClock,
    pub(super) setups: Vec<Setup>,
    /// Opens connections to the store, and the connection of the simulation itself.
    pub(super) store: Mutex<Option<(Connect, Box<dyn Store>)>>,
    pub(super) state: Mutex<State>,
}

/// Never locked while code of a program or of the user runs.
#[derive(Default)]
pub(super) struct State {
    pub(super) rng: Rng,
    pub(super) faults: Faults,
    pub(super) promises: Promises,
    pub(super) log: Log,
    /// By the number of the program.
    pub(super) programs: Vec<ProgramState>,
    /// The programs whose calls are in progress, the innermost last. The first is the client.
    pub(super) frames: Vec<Frame>,
    /// For each effect, the runs in which it took place.
    pub(super) effects: BTreeMap<(String, String), Vec<String>>,
    /// The idempotency keys that each effect has seen.
    pub(super) seen: BTreeSet<(String, String)>,
    pub(super) broken: Option<Broken>,
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) runs: u64,
}

pub(super) struct Frame {
    pub(super) program: Arc<Program>,
    pub(super) run: Option<Run>,
}

pub(super) enum ProgramState {
    /// To be started at this time; never while it is being started.
    Down(u64),
    Up(Arc<Program>),
}

impl State {
    /// The programs that run, with the client.
    pub(super) fn up(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.programs.iter().filter_map(|its| match its {
            ProgramState::Up(program) => Some(program),
            ProgramState::Down(_) => None,
        })
    }
}

/// A line for each event: its hash, and the lines themselves if they are to be shown.
#[derive(Default)]
pub(super) struct Log {
    pub(super) hash: u64,
    pub(super) lines: Option<Vec<String>>,
}

impl Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.hash = fnv_1a(self.hash, text.as_bytes());
        let line = self.lines.iter_mut().filter_map(|lines| lines.last_mut());
        line.for_each(|line| line.push_str(text));
        Ok(())
    }
}

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl World {
    pub(super) fn new(seed: u64, setups: &[Setup], faults: Faults, keep: bool) -> Self {
        let clock = SimClock::default();
        let mut rng = Rng::with_seed(seed);
        // Delays are rounded to the millisecond, so no simulation begins at a whole one.
        clock.time.store(rng.u64(0..1_000_000), Ordering::Relaxed);
        let log = Log { hash: seed, lines: keep.then(Vec::new) };
        let programs = (0..=setups.len()).map(|_| ProgramState::Down(0)).collect();
        let state = State { rng, faults, log, programs, ..State::default() };
        Self(Arc::new(Inner {
            thread: thread::current().id(),
            store_clock: StoreClock::new(clock.clone()),
            clock,
            setups: setups.to_vec(),
            store: Mutex::new(None),
            state: Mutex::new(state),
        }))
    }

    pub(super) fn nanos(&self) -> u64 {
        self.0.clock.nanos()
    }

    pub(super) fn set(&self, nanos: u64) {
        self.0.clock.time.fetch_max(nanos, Ordering::Relaxed);
    }

    pub(super) fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.0.state.lock().rng)
    }

    /// A call takes a little time, in which nothing else happens.
    pub(super) fn take_time(&self) {
        self.set(self.nanos() + self.draw(|rng| rng.u64(0..500_000)));
    }

    pub(super) fn connect(&self) -> Box<dyn Store> {
        let mut store = self.0.store.lock();
        store.as_mut().map_or_else(|| unreachable!("it is set first"), |(connect, _)| connect())
    }

    /// Calls the store without faults.
    pub(super) fn look<T>(&self, act: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>) -> T {
        let mut store = self.0.store.lock();
        let (_, store) = store.as_mut().unwrap_or_else(|| unreachable!("it is set first"));
        act(&mut **store).unwrap_or_else(|error| panic!("the store cannot be read: {error}"))
    }

    /// The clock that a [custom store](super::Sim::store) must use.
    pub fn store_clock(&self) -> StoreClock {
        self.0.store_clock.clone()
    }

    pub(super) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    pub(super) fn note(&self, program: usize, what: fmt::Arguments<'_>) {
        let log = &mut self.0.state.lock().log;
        log.lines.iter_mut().for_each(|lines| lines.push(String::new()));
        let time = Clock(self.nanos());
        let written = match program {
            0 => write!(log, "{time}  client  {what}"),
            program => write!(log, "{time}  program {program}  {what}"),
        };
        debug_assert!(written.is_ok(), "the log takes any text");
    }

    /// Shows a call to the promises. If one is broken, the simulation ends: all programs are dead,
    /// and their calls unwind.
    pub(super) fn promises<T>(
        &self,
        check: impl FnOnce(&mut Promises) -> Result<T, Broken>,
    ) -> Option<T> {
        let checked = check(&mut self.0.state.lock().promises);
        checked.map_err(|broken| self.break_off(broken)).ok()
    }

    pub(super) fn break_off(&self, broken: Broken) {
        self.note(0, format_args!("sees that {broken}"));
        let state = &mut *self.0.state.lock();
        state.broken.get_or_insert(broken);
        let in_progress = state.frames.iter().map(|frame| &frame.program);
        state.up().chain(in_progress).for_each(|program| program.die());
    }

    /// The program in progress. Panics on another thread, or when the simulation is over.
    pub(super) fn current(&self) -> Arc<Program> {
        let is_current = thread::current().id() == self.0.thread;
        let state = self.0.state.lock();
        let frame = state.frames.last().filter(|_| is_current);
        let frame = frame.expect("a `World` is called on the thread of its simulation, meanwhile");
        Arc::clone(&frame.program)
    }

    /// Unwinds the calls of a program that was killed.
    pub(super) fn stop_if_dead(program: &Program) {
        // A destructor must not unwind again.
        if program.is_dead() && !panicking() {
            resume_unwind(Box::new(Killed));
        }
    }

    /// A fault may strike here. Returns an error if it fails the call of the store.
    pub(super) fn strike(
        &self,
        program: &Arc<Program>,
        action: Action,
        is_after: bool,
    ) -> Result<(), StoreError> {
        Self::stop_if_dead(program);
        let away = || StoreError::Unavailable("simulated".into());
        if program.number == 0 || program.is_dead() {
            return if program.is_dead() { Err(away()) } else { Ok(()) };
        }
        let is_store = action.is_store();
        let strike = {
            let faults = &mut self.0.state.lock().faults;
            faults.strike(program.number, (action, is_after), program.lease)
        };
        let is_cut = || program.cut_until.load(Ordering::Relaxed) > self.nanos();
        match strike.map(|strike| self.hit(program, &strike, true)) {
            Some(Fault::Fail | Fault::Cut(_)) => Err(away()),
            _ if is_store && !is_after && is_cut() => Err(away()),
            _ => Ok(()),
        }
    }

    /// `is_inside`: in a call of the program, which waits or unwinds.
    pub(super) fn hit(&self, program: &Arc<Program>, strike: &Strike, is_inside: bool) -> Fault {
        self.note(program.number, format_args!("{strike}"));
        let fault = strike.fault;
        let wait = |time| {
            if is_inside {
                self.wait_in(program, &|| false, Some(time));
            }
        };
        match fault {
            Fault::Kill(down) => {
                self.kill_for(program, down);
                if is_inside {
                    Self::stop_if_dead(program);
                }
            }
            Fault::Stop(down) => program.stop(down),
            Fault::Stall(time) | Fault::Suspend(time) => {
                program.stall(nanos(time), matches!(fault, Fault::Suspend(_)));
                program.stalled.fetch_add(1, Ordering::Relaxed);
                wait(time);
                program.stalled.fetch_sub(1, Ordering::Relaxed);
            }
            Fault::Slow(time) => wait(time),
            Fault::Cut(time) => {
                program.cut_until.store(self.nanos() + nanos(time), Ordering::Relaxed);
            }
            Fault::Jump(millis) => {
                let nanos = millis.saturating_mul(1_000_000).cast_unsigned();
                self.0.clock.ahead.fetch_add(nanos, Ordering::Relaxed);
            }
            Fault::Fail => {}
        }
        fault
    }

    pub(super) fn kill_for(&self, program: &Program, down: Duration) {
        let at = self.nanos() + nanos(down);
        let mut state = self.0.state.lock();
        state.programs[program.number] = ProgramState::Down(at);
        state.promises.killed(program.number);
        drop(state);
        program.kill();
    }
}

impl Simulation for World {
    fn wait(&self, is_done: &dyn Fn() -> bool) {
        self.wait_in(&self.current(), is_done, None);
    }

    fn told(&self, key: &Key, outcome: Outcome) {
        self.promises(|promises| promises.answered(key, outcome));
    }

    fn random(&self) -> u64 {
        self.draw(|rng| rng.u64(..))
    }
}

/// Shows a time since the begin.
pub(super) struct Clock(pub(super) u64);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1_000;
        let (secs, micros) = (micros / 1_000_000, micros % 1_000_000);
        let (days, hours, mins) = (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60);
        write!(f, "{days}d {hours:02}:{mins:02}:{:02}.{micros:06}", secs % 60)
    }
}
