//! The connection of a simulated program to the store.

use super::fault::Place;
use super::program::Program;
use super::world::World;
use crate::store::{
    Change, ClaimLimit, Dead, Entry, Key, Kind, Kinds, Leased, Next, Outcome, Store, StoreError,
    Timestamp, Waker,
};
use std::sync::Arc;
use std::time::Duration;

/// Calls take time, and faults strike before and after each of them. Each call is also shown to the
/// [`Promises`](super::promise::Promises).
pub(super) struct SimStore {
    world: World,
    program: Arc<Program>,
    store: Box<dyn Store>,
}

impl SimStore {
    pub(super) fn new(world: &World, program: &Arc<Program>) -> Self {
        let (world, program) = (world.clone(), Arc::clone(program));
        Self { store: world.connect(), world, program }
    }

    fn read<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.world.strike(&self.program, Place::Read, false)?;
        act(&mut *self.store)
    }
}

impl Store for SimStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let Self { world, program, store } = self;
        let place = Place::of_commit(changes);
        world.strike(program, place.clone(), false)?;
        world.take_time();
        let outcomes = store.commit(changes)?;
        world.note(program.number, format_args!("made {place}: {outcomes:?}"));
        let now = world.store_clock().now();
        let taken = world.promises(|promises| promises.committed(changes, &outcomes, now));
        world.strike(program, place, true)?;
        world.0.state.lock().promises.told(&taken.unwrap_or_default());
        Ok(outcomes)
    }

    fn claim(
        &mut self,
        kinds: &Kinds,
        limit: ClaimLimit,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError> {
        let Self { world, program, store } = self;
        world.strike(program, Place::Claim, false)?;
        world.take_time();
        let before = into.len();
        let next = store.claim(kinds, limit, visibility, into)?;
        let (now, _) = world.store_clock().now();
        let new = &into[before..];
        for Leased { job, token, .. } in new {
            world.note(program.number, format_args!("leases '{}' as {token}", job.key));
        }
        world.promises(|promises| {
            promises.claimed(new, (next, now), (kinds, limit), program.max_attempts)
        });
        if into.len() > before {
            // The caller must not see jobs of a claim that failed.
            let struck = world.strike(program, Place::Claim, true);
            struck.inspect_err(|_| into.truncate(before))?;
        }
        Ok(next)
    }

    fn wake_by(&mut self, waker: Waker) {
        // A store need not be able to wake programs. They then notice jobs when they poll.
        if self.world.draw(|rng| rng.u32(0..4)) > 0 {
            self.store.wake_by(waker);
        }
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.read(|store| store.find(key))
    }

    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError> {
        self.read(|store| store.scan(after, max, each))
    }

    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError> {
        self.read(|store| store.dead(after, max, each))
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        self.read(|store| store.kinds(each))
    }

    fn gauges(&mut self, each: &mut dyn FnMut(&'static str, u64)) -> Result<(), StoreError> {
        self.read(|store| store.gauges(each))
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let (world, program) = (self.world.clone(), Arc::clone(&self.program));
        let second = self.store.beside()?;
        Ok(second.map(|store| Box::new(Self { world, program, store }) as Box<dyn Store>))
    }
}
