//! A simulated program: the parts of its timers, which threads would run, its clock, and its
//! connection to the store.

use super::fault::Action;
use super::world::World;
use crate::claim::{Claimer, Waiting};
use crate::commit::Committer;
use crate::lease::Message;
use crate::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Store,
    StoreError, Timestamp, Waker, forward_reads,
};
use crate::{Builder, StartError, Timers};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wheelhouse_service::{Clock, Moment, Scheduler};

/// The wall clock at the begin of a simulation: 2026-01-01.
const BEGIN: Duration = Duration::from_secs(1_767_225_600);

/// The clock of the store, or of a program. That of a program stands still while its machine is
/// suspended. All times are in nanoseconds.
#[derive(Clone, Default)]
pub(super) struct SimClock {
    /// The time of the world. All clocks share it.
    pub(super) time: Arc<AtomicU64>,
    /// How far the wall clock is ahead of it. A jump back is stored as the two's complement.
    pub(super) ahead: Arc<AtomicU64>,
    /// How long the machine was suspended, with the whole of a suspension that lasts.
    asleep: Arc<AtomicU64>,
    /// When the last suspension ends.
    wakes: Arc<AtomicU64>,
}

impl SimClock {
    pub(super) fn nanos(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// When the wall clock shows this time, in nanoseconds of the world.
    pub(super) fn of_wall(&self, millis: u64) -> u64 {
        let nanos = Duration::from_millis(millis).saturating_sub(BEGIN).as_nanos();
        let ahead = self.ahead.load(Ordering::Relaxed).cast_signed();
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX) - i128::from(ahead);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

impl Clock for SimClock {
    fn now(&self) -> Moment {
        let nanos = self.nanos().max(self.wakes.load(Ordering::Relaxed));
        Moment::from_nanos(nanos - self.asleep.load(Ordering::Relaxed))
    }

    fn wall(&self) -> SystemTime {
        let nanos = self.nanos().wrapping_add(self.ahead.load(Ordering::Relaxed)).cast_signed();
        let moved = Duration::from_nanos(nanos.unsigned_abs());
        let begin = SystemTime::UNIX_EPOCH + BEGIN;
        if nanos < 0 { begin - moved } else { begin + moved }
    }
}

/// The longest time between polls, in nanoseconds: as often as a claimer looks for kinds without a
/// handler.
const REST: u64 = 60_000_000_000;

/// A part of a program. In a real program each has a thread or several.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Claimer,
    Committer,
    Workers,
    /// Its end, when its stop is complete.
    Exit,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Claimer, Self::Committer, Self::Workers, Self::Exit];
}

/// The payload of the panic that ends a program which was killed.
pub(super) struct Killed;

/// From a start to a kill.
#[derive(Default)]
pub(super) struct Program {
    /// 0 for the client.
    pub(super) number: usize,
    pub(super) lease: Duration,
    pub(super) max_attempts: u32,
    clock: SimClock,
    is_dead: AtomicBool,
    /// When it continues, if it stalls.
    pub(super) stalls_until: AtomicU64,
    /// The number of calls in which it stalls. They may last longer, since calls of other programs
    /// that began later end first, and they may hold the lock of a connection.
    pub(super) stalled: AtomicU32,
    /// Until when it cannot reach the store.
    pub(super) cut_until: AtomicU64,
    /// How long it is to be down when its stop is complete. Zero if it is not being stopped.
    stops_for: AtomicU64,
    /// When the committer repeats what has failed.
    again: AtomicU64,
    /// When the claimer looks at the store although no job is due.
    rests_until: AtomicU64,
    /// `None` while the part runs, since it waits for something in a call, and after a kill.
    claimer: Mutex<Option<Claimer>>,
    committer: Mutex<Option<Committer>>,
    workers: Mutex<Option<Scheduler>>,
    pub(super) waiting: Mutex<Option<Arc<Waiting>>>,
    pub(super) timers: Mutex<Option<Timers>>,
}

impl Program {
    /// Starts a program of a user's builder, and makes it the program in progress.
    pub(super) fn start(
        world: &World,
        number: usize,
        builder: Builder,
    ) -> Result<Arc<Self>, StartError> {
        let mut parts = builder.checked()?;
        parts.spawner = None;
        let (asleep, wakes) = (Arc::default(), Arc::default());
        let clock = SimClock { asleep, wakes, ..world.0.clock.clone() };
        let program = Arc::new(Self {
            number,
            lease: parts.settings.visibility,
            max_attempts: parts.settings.backoff.most_attempts(),
            clock: clock.clone(),
            again: AtomicU64::new(u64::MAX),
            ..Self::default()
        });
        world.push(&program);
        parts.clock = Arc::new(clock);
        program.watch(world, &mut parts);
        let store = SimStore::new(world, &program);
        let (shard, workers) = parts.simulated(Box::new(store))?;
        *program.waiting.lock() = shard.waiting();
        *program.timers.lock() = Some(shard.timers);
        *program.claimer.lock() = shard.claimer.map(|(claimer, _)| claimer);
        *program.committer.lock() = Some(shard.committer);
        *program.workers.lock() = workers;
        Ok(program)
    }

    pub(super) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Returns when a part has something to do, in nanoseconds of the world. `first` is when a job
    /// is due. Until then an idle claimer polls the store only each [`REST`]: a poll finds nothing,
    /// and polls would take nearly all of the time of a simulation.
    pub(super) fn due(&self, part: Part, first: u64) -> u64 {
        let world = |moment: Moment| match moment {
            Moment::MAX => u64::MAX,
            moment => moment.as_nanos() + self.clock.asleep.load(Ordering::Relaxed),
        };
        let at = match part {
            Part::Claimer => self.claimer.lock().as_ref().map(|claimer| {
                let rest = first.min(self.rests_until.load(Ordering::Relaxed));
                let at = world(claimer.next_turn());
                if claimer.is_idle() { at.max(rest) } else { at }
            }),
            Part::Committer => self.committer.lock().as_ref().map(|committer| {
                if committer.queue.has_changes() { 0 } else { self.again.load(Ordering::Relaxed) }
            }),
            Part::Workers => {
                let workers = self.workers.lock();
                workers.as_ref().and_then(Scheduler::next_wakeup).map(world)
            }
            Part::Exit => self.has_stopped().then_some(0),
        };
        let at = at.filter(|_| self.stalled.load(Ordering::Relaxed) == 0);
        at.map_or(u64::MAX, |at| at.max(self.stalls_until.load(Ordering::Relaxed)))
    }

    pub(super) fn run(&self, world: &World, part: Part) {
        let now = self.clock.nanos();
        match part {
            Part::Claimer => {
                self.rests_until.store(now + REST, Ordering::Relaxed);
                self.with(&self.claimer, Claimer::turn);
            }
            Part::Committer => self.with(&self.committer, |committer| {
                committer.step(Some(Duration::ZERO));
                let pause =
                    committer.pause().and_then(|pause| u64::try_from(pause.as_nanos()).ok());
                self.again.store(pause.map_or(u64::MAX, |pause| now + pause), Ordering::Relaxed);
            }),
            Part::Workers => self.with(&self.workers, |workers| {
                workers.poll(self.clock.now());
            }),
            Part::Exit => {
                let down = Duration::from_nanos(self.stops_for.load(Ordering::Relaxed));
                world.note(self.number, format_args!("has stopped"));
                world.kill_for(self, down);
            }
        }
    }

    /// The part is dropped if the program is killed meanwhile.
    fn with<T>(&self, slot: &Mutex<Option<T>>, act: impl FnOnce(&mut T)) {
        let Some(mut part) = slot.lock().take() else { unreachable!("it was due") };
        act(&mut part);
        if !self.is_dead() {
            *slot.lock() = Some(part);
        }
    }

    /// All parts stand still for this time, and the clock too if `is_suspended`.
    pub(super) fn stall(&self, nanos: u64, is_suspended: bool) {
        let until = self.clock.nanos() + nanos;
        self.stalls_until.fetch_max(until, Ordering::Relaxed);
        if is_suspended {
            // A suspension within a suspension adds what it lasts longer.
            let before = self.clock.wakes.fetch_max(until, Ordering::Relaxed);
            let more = until.saturating_sub(before.max(until - nanos));
            self.clock.asleep.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Begins what [`Durable::stop`](crate::Durable::stop) does.
    pub(super) fn stop(&self, down: Duration) {
        let Some(timers) = self.timers.lock().clone() else { return };
        let down = u64::try_from(down.as_nanos()).unwrap_or(u64::MAX);
        self.stops_for.store(down.max(1), Ordering::Relaxed);
        timers.shared().stopping.store(true, Ordering::SeqCst);
        timers.shared().flight.tell(Message::Stop);
        self.waiting.lock().clone().iter().for_each(|waiting| waiting.clear());
    }

    fn has_stopped(&self) -> bool {
        let is_idle = |its: &Committer| !its.queue.has_changes() && its.pause().is_none();
        self.stops_for.load(Ordering::Relaxed) > 0
            && self.claimer.lock().as_ref().is_some_and(Claimer::is_idle)
            && self.committer.lock().as_ref().is_some_and(is_idle)
    }

    /// Nothing that the program does from now on reaches the world.
    pub(super) fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
    }

    /// Ends the program as a kill does. Parts that run are dropped when their calls have unwound.
    pub(super) fn kill(&self) {
        self.die();
        let Some(timers) = self.timers.lock().take() else { return };
        // Jobs that wait for a worker are dropped instead of begun.
        timers.shared().stopping.store(true, Ordering::SeqCst);
        let parts = (self.committer.lock().take(), self.claimer.lock().take());
        let (workers, waiting) = (self.workers.lock().take(), self.waiting.lock().take());
        // Their destructors are code of the user.
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            waiting.iter().for_each(|waiting| waiting.clear());
            drop((parts, workers));
        }));
        dropped.unwrap_or_default();
    }
}

/// Calls take time, and faults strike before and after each of them. Each call is also shown to the
/// [`Promises`](super::promise::Promises).
struct SimStore {
    world: World,
    program: Arc<Program>,
    store: Box<dyn Store>,
}

impl SimStore {
    fn new(world: &World, program: &Arc<Program>) -> Self {
        let (world, program) = (world.clone(), Arc::clone(program));
        Self { store: world.connect(), world, program }
    }

    fn read(&mut self) -> Result<&mut dyn Store, StoreError> {
        self.world.strike(&self.program, Action::Read, false)?;
        Ok(&mut *self.store)
    }
}

impl Store for SimStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let Self { world, program, store } = self;
        let action = Action::of_commit(changes);
        world.strike(program, action.clone(), false)?;
        world.take_time();
        let outcomes = store.commit(changes)?;
        world.note(program.number, format_args!("made {action}: {outcomes:?}"));
        let now = world.store_clock().now();
        let taken = world.promises(|promises| promises.committed(changes, &outcomes, now));
        world.strike(program, action, true)?;
        world.0.state.lock().promises.told(&taken.unwrap_or_default());
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        let Self { world, program, store } = self;
        world.strike(program, Action::Claim, false)?;
        world.take_time();
        let (leased, next) = store.claim(kinds, limit, visibility)?;
        let (now, _) = world.store_clock().now();
        for leased in &leased {
            let what = if leased.has_begun() { "begins" } else { "leases" };
            let text = format_args!("{what} '{}' as {}", leased.job.key, leased.token);
            world.note(program.number, text);
        }
        world.promises(|promises| {
            promises.claimed(&leased, (next, now), (kinds, limit), program.max_attempts)
        });
        if !leased.is_empty() {
            world.strike(program, Action::Claim, true)?;
        }
        Ok((leased, next))
    }

    fn wake_by(&mut self, waker: Waker) {
        // A store need not be able to wake programs. They then notice jobs when they poll.
        if self.world.draw(|rng| rng.u32(0..4)) > 0 {
            self.store.wake_by(waker);
        }
    }

    forward_reads!(self => self.read()?);

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let (world, program) = (self.world.clone(), Arc::clone(&self.program));
        let second = self.store.beside()?;
        Ok(second.map(|store| Box::new(Self { world, program, store }) as Box<dyn Store>))
    }
}
