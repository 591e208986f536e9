//! A simulator for your handlers (feature `sim`).
//!
//! A [`Sim`] runs programs with your handlers on one store, from a seed, on one thread and in
//! virtual time. It kills programs before and after each effect, commit and ack; lets them lose
//! their leases; sets the store's clock; and lets the store be slow, fail, or lose answers. A
//! simulation fails if an effect happens twice, if a guarantee of the crate is broken, or if a
//! [check](Sim::check) that you add fails. The same seed gives the same simulation, bit for bit.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::sim::{Sim, World};
//! use wheelhouse_durable::{Durable, Handlers, Next};
//!
//! fn payments(bank: &World) -> Handlers {
//!     let bank = bank.clone(); // instead of the client of a payment service
//!     Handlers::new().on_bytes("charge/1", move |_, order| {
//!         // Twice, if the program is killed before the ack. With `effect_with_key` and
//!         // `run.idempotency_key()` the simulation passes.
//!         bank.effect("charge", str::from_utf8(order)?);
//!         Ok(Next::Done)
//!     })
//! }
//!
//! let sim = Sim::new(|world| Durable::builder(payments(world))).client(|_, timers| {
//!     let order = timers.after(Duration::from_secs(1_800)).key("order-17");
//!     order.schedule_bytes("charge/1", "17").unwrap();
//! });
//! let failure = sim.run(0..200).unwrap_err();
//! assert!(failure.broken.contains("'charge' of '17' took place twice"));
//! assert!(failure.faults[0].contains("is killed for 1.0s after the effect 'charge'"));
//! ```
//!
//! Replace the services that your handlers call by fakes that report to [`World::effect`], or to
//! [`World::effect_with_key`] if the real service takes an idempotency key. State that survives a
//! kill, such as the accounts of a bank, is a value that all programs share. Do not hold a `std`
//! lock while you call the world: a kill unwinds your handler, and would poison the lock.
//!
//! Each program has the parts that it has on threads: claimer, committer and workers. The seed
//! chooses which of them continues whenever several could, and how long a call of the store takes.
//! A call that waits lets the others run. A handler takes no time, unless it calls
//! [`World::pass`], or awaits [`World::sleep`]: do not use the clock, the threads or the timers of
//! the machine in a simulated handler, nor its random numbers, nor the order of a `HashMap`.
//! [`Sim::run`] plays each failing seed again, and panics if the two are not the same.
//!
//! Programs run one handler that is a closure at a time. [`Builder::spawn_on`] and
//! [`Builder::clock`] have no effect. A simulation has one store.
//!
//! [`Builder::spawn_on`]: crate::Builder::spawn_on
//! [`Builder::clock`]: crate::Builder::clock

mod effect;
mod fault;
mod job;
mod program;
mod promise;
mod schedule;
mod world;

pub use world::World;

use crate::store::{MemoryStore, Store};
use crate::{Builder, Timers, simulated};
use fault::{Faults, Strike};
use job::Broken;
use program::Killed;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_service::internal::guarded;
use world::State;

/// Makes the timers of a program, at each start.
type Setup = Arc<dyn Fn(&World) -> Builder + Send + Sync>;
/// Opens a connection to the store of a simulation.
type Connect = Box<dyn FnMut() -> Box<dyn Store> + Send>;

/// The longest virtual time, unless the client lets more pass.
const DAY: Duration = Duration::from_secs(86_400);

type Client = dyn Fn(&World, &Timers);
type Check = dyn Fn(&World) -> Result<(), String>;

/// The simulations of a system, one for each seed. See the [module](self).
#[derive(Clone)]
#[must_use = "nothing is simulated until `run` is called"]
pub struct Sim {
    programs: Vec<Setup>,
    store: Arc<dyn Fn(&World) -> Connect>,
    client: Arc<Client>,
    check: Arc<Check>,
}

/// The simulations of all seeds, none of which has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// The number of seeds.
    pub seeds: u64,
    /// The virtual time of all simulations together.
    pub time: Duration,
    /// The number of calls of handlers.
    pub runs: u64,
    /// The number of faults.
    pub faults: u64,
}

/// A simulation that has failed, with the fewest faults that make it fail.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The broken promise, and how it was broken.
    pub broken: String,
    /// The faults, for example `program 1 is killed after the effect 'charge' (number 1)`.
    pub faults: Vec<String>,
    /// The number of faults of the seed, before the others were left out.
    pub faults_before: usize,
    /// The events, with these faults alone.
    pub log: Vec<String>,
    /// The hash of the events of the seed, with all of its faults.
    pub hash: u64,
}

impl Sim {
    /// Two programs, each made by `program`, and a store in memory. Each fourth seed has only one
    /// of them. `program` is called at each start, also after a kill: a value that must survive
    /// kills is made outside of it.
    pub fn new(program: impl Fn(&World) -> Builder + Send + Sync + 'static) -> Self {
        let program: Setup = Arc::new(program);
        Self {
            programs: vec![Arc::clone(&program), program],
            store: Arc::new(|world| {
                let store = MemoryStore::with_clock(world.store_clock());
                Box::new(move || Box::new(store.clone()))
            }),
            client: Arc::new(|_, _| {}),
            check: Arc::new(|_| Ok(())),
        }
    }

    /// Adds another program, for example one of an older version.
    pub fn program(mut self, program: impl Fn(&World) -> Builder + Send + Sync + 'static) -> Self {
        self.programs.push(Arc::new(program));
        self
    }

    /// Sets the store. `store` is called at the begin of each simulation, for a function that opens
    /// connections to a new store. The store must tell the time by [`World::store_clock`], and keep
    /// to one thread.
    pub fn store<S, C>(mut self, store: impl Fn(&World) -> C + 'static) -> Self
    where
        S: Store,
        C: FnMut() -> S + Send + 'static,
    {
        self.store = Arc::new(move |world| {
            let mut connect = store(world);
            Box::new(move || Box::new(connect()))
        });
        self
    }

    /// Sets what a client does while the programs run: it schedules and cancels jobs, and lets time
    /// [pass](World::pass). No fault strikes the client itself. A simulation ends when the client
    /// has returned, and the store is empty or a day has passed since the begin.
    pub fn client(mut self, client: impl Fn(&World, &Timers) + 'static) -> Self {
        self.client = Arc::new(client);
        self
    }

    /// Sets a check at the end of each simulation. The simulation fails if it returns an error.
    pub fn check(mut self, check: impl Fn(&World) -> Result<(), String> + 'static) -> Self {
        self.check = Arc::new(check);
        self
    }

    /// Simulates each of these seeds, until one fails.
    ///
    /// # Errors
    ///
    /// The first failure, with the fewest faults. It shows the same text by `Debug` as by
    /// `Display`, so that `unwrap` in a test prints it.
    ///
    /// # Panics
    ///
    /// If a program cannot start for another reason than its store, or if the simulation of a seed
    /// that fails is not the same the second time.
    pub fn run(&self, seeds: impl IntoIterator<Item = u64>) -> Result<Passed, Box<Failure>> {
        let mut passed = Passed::default();
        for seed in seeds {
            let world = self.play(seed, Faults::by_chance(seed), false);
            let state = world.0.state.lock();
            if let Some(broken) = &state.broken {
                return Err(Box::new(self.shrink(seed, &state, broken)));
            }
            passed.seeds += 1;
            passed.time += world.elapsed();
            passed.runs += state.runs;
            passed.faults += state.faults.struck.len() as u64;
        }
        Ok(passed)
    }

    fn play(&self, seed: u64, faults: Faults, keep: bool) -> World {
        // A program that has ceased to claim is noticed if no other takes its place.
        let programs = &self.programs[usize::from(seed.is_multiple_of(4))..];
        let world = World::new(seed, programs, faults, keep);
        let mut connect = (self.store)(&world);
        let store = connect();
        *world.0.store.lock() = Some((connect, store));
        let before = simulated::set(Some(Rc::new(world.clone())));
        assert!(before.is_none(), "a simulation cannot be played within another");
        // The backoff of retries has a random share.
        fastrand::seed(seed);
        let played = catch_unwind(AssertUnwindSafe(|| {
            let timers = world.start_client();
            (self.client)(&world, &timers);
            world.settle(DAY);
            (self.check)(&world)
        }));
        world.end();
        simulated::set(None);
        let how = match played {
            Ok(checked) => checked.err(),
            // A promise was broken.
            Err(payload) if payload.is::<Killed>() => None,
            Err(payload) => guarded(|| resume_unwind(payload)).err(),
        };
        let own = how.map(|how| Broken { promise: "the check of the client", how });
        let mut state = world.0.state.lock();
        state.broken = state.broken.take().or(own);
        drop(state);
        world
    }

    /// Plays a failing seed with fewer and fewer of its faults.
    fn shrink(&self, seed: u64, first: &State, broken: &Broken) -> Failure {
        let (mut faults, hash) = (first.faults.struck.clone(), first.log.hash);
        let again = self.play(seed, Faults::by_chance(seed), false).0.state.lock().log.hash;
        assert_eq!(
            hash, again,
            "seed {seed} was not simulated twice in the same way: a handler, the client or the \
             store depends on the clock, the threads or the random numbers of the machine, or on \
             the order of a `HashMap`"
        );
        let fails = |faults: &[Strike]| {
            let world = self.play(seed, Faults::planned(faults.to_vec()), false);
            let its = world.0.state.lock().broken.take();
            its.is_some_and(|its| its.promise == broken.promise)
        };
        // Often one fault is enough, and the plainest is a kill after an effect.
        let mut ones = first.faults.kills().into_iter().chain(faults.iter().cloned());
        if let Some(one) = ones.find(|fault| fails(std::slice::from_ref(fault))) {
            faults = vec![one];
        }
        let mut index = 0;
        while index < faults.len() {
            let mut fewer = faults.clone();
            fewer.remove(index);
            if fails(&fewer) { faults = fewer } else { index += 1 }
        }
        let last = self.play(seed, Faults::planned(faults.clone()), true);
        let last = &mut *last.0.state.lock();
        Failure {
            seed,
            broken: last.broken.as_ref().unwrap_or(broken).to_string(),
            faults: faults.iter().map(ToString::to_string).collect(),
            faults_before: first.faults.struck.len(),
            log: last.log.lines.take().unwrap_or_default(),
            hash,
        }
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim").field("programs", &self.programs.len()).finish_non_exhaustive()
    }
}

/// The number of events that a failure shows.
const SHOWN: usize = 40;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, broken, faults, faults_before, log, hash } = self;
        writeln!(f, "seed {seed}: {broken}")?;
        writeln!(f, "{} of {faults_before} faults are needed:", faults.len())?;
        faults.iter().try_for_each(|fault| writeln!(f, "  {fault}"))?;
        let skipped = log.len().saturating_sub(SHOWN);
        writeln!(f, "events, after {skipped} earlier ones (hash {hash:016x}):")?;
        log[skipped..].iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
